// PULL and DATA: the sending half of ReadPath.

#include <algorithm>
#include <utility>

#include "libs/base/limits.h"
#include "libs/base/mark.h"
#include "libs/node/read_path.h"

namespace cairn {

void ReadPath::OnPull(const NodeSession& session, const wire::Pull& message) {
  Pull(session.id, readers_.at(session.id), message, DeadlineOf(message.remaining_us));
}

// Asks the shards for holds on what is to be sent.
void ReadPath::Pull(SessionId session, const Reader& reader, const wire::Pull& message,
                    Instant deadline) {
  needs_.stats.pulls += message.indices.size();
  const auto pin = reader.pins.find(message.pin);
  if (pin == reader.pins.end()) {
    CAIRN_COVERED("node_pull_of_ended_pin");
    for (const std::uint32_t index : message.indices) {
      FailPull(reader.peer, message.request, index, wire::PullFailure::kGone);
    }
    return;
  }
  const std::vector<PinnedAt>& keys = pin->second.keys;
  std::map<ShardIndex, HoldPart> parts;
  for (const std::uint32_t index : message.indices) {
    const auto key = std::lower_bound(
        keys.begin(), keys.end(), index,
        [](const PinnedAt& at, std::uint32_t wanted) { return at.index < wanted; });
    if (key == keys.end() || key->index != index) {
      FailPull(reader.peer, message.request, index, wire::PullFailure::kGone);
      continue;
    }
    HoldPart& part = parts[key->shard];
    part.indices.push_back(index);
  }
  for (auto& [shard, part] : parts) {
    part.session = session;
    part.request = message.request;
    part.deadline = deadline;
    part.pin = message.pin;
    PostTo(shard, [part = std::move(part)](Shard& to) mutable { to.Hold(std::move(part)); });
  }
}

void ReadPath::FailPull(Peer peer, RequestId request, std::uint32_t index, wire::PullFailure why) {
  ++needs_.stats.pulls_failed;
  needs_.lanes
      .Send(peer, wire::Type::kPullFailed, wire::Encode(wire::PullFailed{request, index, why}))
      .IgnoreError();  // its own deadline ends the call
}

void ReadPath::DropHold(ShardIndex shard, HoldId hold) {
  PostTo(shard, [hold](Shard& to) { to.DropHold(hold); });
}

void ReadPath::OnHeldPart(HeldPart part) {
  const auto it = readers_.find(part.session);
  for (const HeldEntry& entry : part.entries) {
    if (it == readers_.end()) {
      CAIRN_COVERED("node_session_ended_while_holding");
      if (entry.hold != HoldId()) DropHold(part.shard, entry.hold);
      continue;
    }
    Reader& reader = it->second;
    if (entry.hold == HoldId()) {
      FailPull(reader.peer, part.request, entry.index, wire::PullFailure::kGone);
    } else if (reader.queue.size() >= needs_.options.ceilings.sends_queued) {
      CAIRN_COVERED("node_sends_queue_full");
      FailPull(reader.peer, part.request, entry.index, wire::PullFailure::kOverloaded);
      DropHold(part.shard, entry.hold);
    } else {
      reader.queue.push_back({part.request, entry.index, part.shard, entry.hold, entry.bytes,
                              entry.checksum, part.deadline});
      ++needs_.stats.sends_queued;
    }
  }
  if (it != readers_.end()) Pump(part.session);
}

void ReadPath::Pump(SessionId session) {
  Reader& reader = readers_.at(session);
  while (!reader.queue.empty() && reader.in_flight < needs_.options.sends_per_session_max) {
    const QueuedSend send = reader.queue.front();
    reader.queue.pop_front();
    --needs_.stats.sends_queued;
    SendNow(session, reader, send);
  }
  SweepLater(session, reader);
}

void ReadPath::SendNow(SessionId session, Reader& reader, const QueuedSend& send) {
  if (needs_.loop.Now() >= send.deadline) {
    FailPull(reader.peer, send.request, send.index, wire::PullFailure::kDeadline);
    DropHold(send.shard, send.hold);
    return;
  }
  const wire::PullData header{send.request, send.index, send.bytes.size(), send.checksum};
  const absl::Status sent =
      needs_.lanes.SendBulk(reader.peer, wire::Type::kPullData, wire::Encode(header), send.bytes,
                            [this, session, send](absl::Status status) {
                              DropHold(send.shard, send.hold);
                              --needs_.stats.sends;
                              if (status.ok()) needs_.stats.pulled_bytes += send.bytes.size();
                              const auto it = readers_.find(session);
                              if (it == readers_.end()) {
                                CAIRN_COVERED("node_send_outlived_session");
                                return;
                              }
                              --it->second.in_flight;
                              Pump(session);
                            });
  if (!sent.ok()) {
    CAIRN_COVERED("node_data_not_sent");
    FailPull(reader.peer, send.request, send.index, wire::PullFailure::kOverloaded);
    DropHold(send.shard, send.hold);
    return;
  }
  ++reader.in_flight;
  ++needs_.stats.sends;
}

// A reader that takes nothing must not keep slots for longer than it asked for.
void ReadPath::SweepLater(SessionId session, Reader& reader) {
  if (reader.queue.empty() || reader.has_sweep) return;
  reader.has_sweep = true;
  reader.sweep =
      needs_.loop.RunAt(reader.queue.front().deadline, [this, session] { Sweep(session); });
}

void ReadPath::Sweep(SessionId session) {
  Reader& reader = readers_.at(session);
  reader.has_sweep = false;
  const Instant now = needs_.loop.Now();
  std::deque<QueuedSend> left;
  for (const QueuedSend& send : reader.queue) {
    if (send.deadline > now) {
      left.push_back(send);
      continue;
    }
    CAIRN_COVERED("node_queued_send_overdue");
    FailPull(reader.peer, send.request, send.index, wire::PullFailure::kDeadline);
    DropHold(send.shard, send.hold);
    --needs_.stats.sends_queued;
  }
  reader.queue = std::move(left);
  SweepLater(session, reader);
}

}  // namespace cairn
