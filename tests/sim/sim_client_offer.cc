// The offering half of SimClient.

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/sim/sim_client.h"

namespace cairn::sim {

void SimClient::BeginOffer(const std::vector<int>& entries) {
  const Universe& universe = Universe::Get();
  const std::uint64_t id = ++last_id_;
  Offered offered{.pauses = pauses_};
  std::vector<OfferBlock> blocks;
  for (const int entry : entries) {
    const SimEntry& e = universe.entries()[entry];
    const absl::Span<const std::byte> bytes =
        universe.BytesOf(entry, profile_.tenant, profile_.variant).first(BytesFor(entry));
    absl::Span<std::byte> at;
    if (pool_ != nullptr) {
      if (free_slots_.empty()) break;
      offered.slots.push_back(free_slots_.back());
      free_slots_.pop_back();
      at = pool_->bytes().subspan(offered.slots.back() * kStateBytes, bytes.size());
    } else {
      Buffer& buffer = buffers_[offered.buffers.emplace_back(++last_id_)];
      buffer.bytes.resize(bytes.size());
      at = absl::MakeSpan(buffer.bytes);
    }
    std::memcpy(at.data(), bytes.data(), bytes.size());
    offered.entries.push_back(entry);
    blocks.push_back({.key = e.key,
                      .kind = e.kind,
                      .parent = e.parent,
                      .bytes = at,
                      .checksum = ChecksumOf(bytes),
                      .depth = e.depth});
    if (rng_.Chance(1, 40)) blocks.back().depth = 0;  // a bug of some worker: cannot be
  }
  if (pool_ != nullptr && !blocks.empty() && rng_.Chance(1, 40)) {
    blocks.back().bytes = universe.BytesOf(0, 0, 0);  // another one: not in the pool
  }
  if (blocks.empty()) return;
  offered.left = blocks.size();
  offered.deadline = loop_->Now() + Random(rng_.Chance(1, 3) ? 150 : 3000);
  const Instant deadline = offered.deadline;
  sim_.tally.offers += blocks.size();
  if (profile_.is_careless && pool_ != nullptr && rng_.Chance(1, 2)) {
    const int slot = offered.slots[rng_.Below(offered.slots.size())];
    loop_->RunAt(loop_->Now() + Random(60), [this, slot] {
      Scribble(pool_->bytes().subspan(slot * kStateBytes, kStateBytes));
    });
  }
  offers_[id] = std::move(offered);
  client_->Offer(std::move(blocks), deadline, [this, id](std::size_t index, OfferResult result) {
    OnOffered(id, index, result);
  });
}

// The last word on a block, and the end of its loan: its memory is used again at once.
void SimClient::OnOffered(std::uint64_t id, std::size_t index, OfferResult result) {
  Offered& offered = offers_.at(id);
  if (pool_ != nullptr) {
    CheckInTime(offered.deadline, offered.pauses, "OFFER");
    const int slot = offered.slots[index];
    Scribble(pool_->bytes().subspan(slot * kStateBytes, kStateBytes));
    free_slots_.push_back(slot);
  } else {
    buffers_.erase(offered.buffers[index]);
  }
  if (result == OfferResult::kTorn && !profile_.is_careless) {
    sim_.Fail(absl::StrCat("a put of client ", number_, " was torn though it kept its loan"));
  }
  if (--offered.left == 0) offers_.erase(id);
}

void SimClient::Scribble(absl::Span<std::byte> bytes) {
  std::memset(bytes.data(), static_cast<int>(rng_.Below(256)), bytes.size());
}

}  // namespace cairn::sim
