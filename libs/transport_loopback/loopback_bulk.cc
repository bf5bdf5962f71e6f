#include <algorithm>
#include <cstring>

#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/transport_loopback/loopback_core.h"

// The bulks of a LoopbackCore: announced in order with messages, then moved slice by slice by the
// receiver, from the sender's memory to the landing.
namespace cairn {

absl::Status LoopbackCore::SendBulk(std::uint64_t port_id, EndpointId to, MessageType type,
                                    std::string header, absl::Span<const std::byte> bytes,
                                    absl::AnyInvocable<void(absl::Status)> done) {
  if (header.size() > limits::kBulkHeaderBytesMax || type.value() >= kMessageTypesMax) {
    return absl::InvalidArgumentError("bulk header over the transport's limits");
  }
  Item item;
  item.kind = Kind::kBulk;
  item.type = type;
  item.body = std::move(header);
  MutexLock lock(mutex_);
  End* const end = Find(port_id, to);
  if (end == nullptr || end->is_closing) return absl::NotFoundError("the endpoint is closed");
  if (end->bulks >= limits::kTransportBulksMax) {
    return absl::ResourceExhaustedError("too many bulks of this endpoint are in flight");
  }
  const std::uint64_t id = item.bulk = ++bulks_made_;
  Bulk& bulk = bulks_[id];
  bulk.from_port = port_id;
  bulk.from_end = to;
  bulk.source = bytes;
  absl::Status sent = SendItem(port_id, to, std::move(item));
  if (!sent.ok()) {
    bulks_.erase(id);
    return sent;
  }
  bulk.done = std::move(done);
  ++end->bulks;
  ++Live(port_id)->loans;
  return sent;
}

void LoopbackCore::Announce(std::uint64_t port_id, Item item) {
  const absl::Status refused = absl::AbortedError("the receiver refused the bulk");
  TransportReceiver* receiver = nullptr;
  std::uint64_t bytes = 0;
  {
    MutexLock lock(mutex_);
    Port* const port = Live(port_id);
    End* const end = Find(port_id, item.end);
    const auto it = bulks_.find(item.bulk);
    if (end != nullptr) end->queued_bytes -= item.body.size();
    if (end == nullptr || it == bulks_.end()) return;
    if (end->is_closing) {
      EndBulk(item.bulk, refused);
      return;
    }
    receiver = port->receiver;
    bytes = it->second.source.size();
  }
  const std::optional<Landing> landing =
      receiver->OnBulk(item.end, item.type, AsBytes(item.body), bytes);
  MutexLock lock(mutex_);
  Port* const port = Live(port_id);
  if (port == nullptr) return;
  const auto it = bulks_.find(item.bulk);
  if (!landing.has_value()) {
    if (it != bulks_.end()) EndBulk(item.bulk, refused);
    return;
  }
  CAIRN_CHECK(landing->bytes.size() == bytes) << landing->bytes.size() << " != " << bytes;
  ++port->loans;
  if (it == bulks_.end()) {  // its sender went while we asked
    Item ended;
    ended.kind = Kind::kLandingEnded;
    ended.end = item.end;
    ended.landing = landing->landing;
    ended.status = absl::UnavailableError("the sender is gone");
    Enqueue(port_id, std::move(ended), Delay(), /*ordered=*/false);
    return;
  }
  Bulk& bulk = it->second;
  bulk.is_landing = true;
  bulk.landing = *landing;
  bulk.is_held = holds_bulk_;
  if (!bulk.is_held) BeginSlices(it->first, bulk);
}

void LoopbackCore::BeginSlices(std::uint64_t bulk_id, Bulk& bulk) {
  if (rng_.Chance(faults_.bulk_failures_per_million, 1'000'000)) {
    bulk.fail_at = rng_.Below(bulk.source.size() + 1);
  }
  Item slice;
  slice.kind = Kind::kSlice;
  slice.end = bulk.to_end;
  slice.bulk = bulk_id;
  Enqueue(bulk.to_port, std::move(slice), Delay(), /*ordered=*/false);
}

void LoopbackCore::RunSlice(std::uint64_t port_id, std::uint64_t bulk_id, Calls& calls) {
  const auto it = bulks_.find(bulk_id);
  if (it == bulks_.end()) return;
  Bulk& bulk = it->second;
  const std::uint64_t want = rng_.Between(64, std::max<std::uint64_t>(64, faults_.slice_bytes_max));
  const std::uint64_t bytes = std::min(want, bulk.source.size() - bulk.moved);
  if (bytes > 0) {
    std::memcpy(bulk.landing.bytes.data() + bulk.moved, bulk.source.data() + bulk.moved, bytes);
    bulk.moved += bytes;
  }
  if (bulk.moved >= bulk.fail_at) {
    EndBulk(bulk_id, absl::AbortedError("the transfer failed"));
    return;
  }
  if (bulk.moved < bulk.source.size()) {
    Item slice;
    slice.kind = Kind::kSlice;
    slice.end = bulk.to_end;
    slice.bulk = bulk_id;
    Enqueue(port_id, std::move(slice), Delay(), /*ordered=*/false);
    return;
  }
  DropBulkCounts(bulk);
  Item ended;
  ended.kind = Kind::kSendEnded;
  ended.end = bulk.from_end;
  ended.done = std::move(bulk.done);
  Enqueue(bulk.from_port, std::move(ended), Delay(), /*ordered=*/false);
  --Live(port_id)->loans;
  calls.push_back([end = bulk.to_end, landing = bulk.landing.landing](TransportReceiver& receiver) {
    receiver.OnBulkLanded(end, landing, absl::OkStatus());
  });
  bulks_.erase(it);
}

void LoopbackCore::EndBulk(std::uint64_t bulk_id, const absl::Status& status) {
  const auto it = bulks_.find(bulk_id);
  Bulk& bulk = it->second;
  DropBulkCounts(bulk);
  Item ended;
  ended.kind = Kind::kSendEnded;
  ended.end = bulk.from_end;
  ended.done = std::move(bulk.done);
  ended.status = status;
  Enqueue(bulk.from_port, std::move(ended), Delay(), /*ordered=*/false);
  if (bulk.is_landing) {
    Item landed;
    landed.kind = Kind::kLandingEnded;
    landed.end = bulk.to_end;
    landed.landing = bulk.landing.landing;
    landed.status = status;
    Enqueue(bulk.to_port, std::move(landed), Delay(), /*ordered=*/false);
  }
  bulks_.erase(it);
}

void LoopbackCore::DropBulkCounts(const Bulk& bulk) {
  if (End* const from = Find(bulk.from_port, bulk.from_end)) --from->bulks;
  if (End* const to = Find(bulk.to_port, bulk.to_end)) --to->bulks;
}

}  // namespace cairn
