#include "libs/node/read_path.h"

#include <algorithm>
#include <utility>

#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mark.h"
#include "libs/node/acquire_cut.h"

namespace cairn {

ReadPath::ReadPath(const Needs& needs) : needs_(needs) {}
ReadPath::~ReadPath() = default;

void ReadPath::BeginSession(const NodeSession& session) {
  Reader& reader = readers_[session.id];
  reader.peer = session.peer;
  reader.is_same_host = session.is_same_host;
  reader.block_tokens = session.block_tokens;
}

void ReadPath::EndSession(SessionId session) {
  const auto it = readers_.find(session);
  CAIRN_CHECK(it != readers_.end()) << session.value();
  Reader& reader = it->second;
  for (const QueuedSend& send : reader.queue) DropHold(send.shard, send.hold);
  needs_.stats.sends_queued -= reader.queue.size();
  if (reader.has_sweep) needs_.loop.Cancel(reader.sweep);
  for (const auto& [pin, record] : reader.pins) pins_by_end_.erase({record.ends, session, pin});
  // Shards still answer its ACQUIREs, with pins that their EndSession has ended.
  std::erase_if(gathers_, [session](const auto& entry) { return entry.second.session == session; });
  readers_.erase(it);
  if (pins_by_end_.empty() && pins_armed_ != Instant::Infinite()) {
    needs_.loop.Cancel(pin_timer_);
    pins_armed_ = Instant::Infinite();
  }
}

std::uint64_t ReadPath::PinnedKeysOf(SessionId session) const {
  const auto it = readers_.find(session);
  return it == readers_.end() ? 0 : it->second.pinned_keys;
}

Instant ReadPath::DeadlineOf(std::uint64_t remaining_us) const {
  return needs_.loop.Now() + absl::Microseconds(std::min(remaining_us, limits::kDeadlineMicrosMax));
}

absl::Duration ReadPath::PinDuration(const Reader& reader) const {
  return reader.is_same_host ? needs_.options.pin_age_max : needs_.options.remote_pin_age_max;
}

// ---- ACQUIRE ----

void ReadPath::OnAcquire(const NodeSession& session, wire::Acquire message,
                         wire::AcquireResult refuse_with) {
  ++needs_.stats.acquires;
  Reader& reader = readers_.at(session.id);
  for (const PinId pin : message.released) ReleasePin(session.id, reader, pin);
  if (reader.gathers >= needs_.options.ceilings.acquires_in_flight &&
      refuse_with == wire::AcquireResult::kOk) {
    CAIRN_COVERED("node_acquires_in_flight_full");
    refuse_with = wire::AcquireResult::kOverloaded;
  }
  if (refuse_with != wire::AcquireResult::kOk || message.keys.empty()) {
    if (refuse_with != wire::AcquireResult::kOk) ++needs_.stats.acquires_refused;
    needs_.lanes
        .Send(session.peer, wire::Type::kAcquired,
              wire::Encode(wire::Acquired{.request = message.request, .result = refuse_with}))
        .IgnoreError();  // its endpoint is closing, or it does not read: it has its own deadline
    return;
  }
  OverlapWatch::Seen seen;
  if (needs_.overlaps != nullptr) seen = needs_.overlaps->See(session, message);
  const GatherId id(++last_gather_);
  Gather gather{.session = session.id,
                .request = message.request,
                .pin = PinId(++reader.last_pin),
                .deadline = DeadlineOf(message.remaining_us),
                .want = message.want,
                .is_hybrid = message.is_hybrid,
                .resume_depth_max = message.resume_depth_max,
                .kinds = std::move(message.kinds),
                .seen = seen};
  ++reader.gathers;
  Gather& kept = gathers_.emplace(id, std::move(gather)).first->second;
  kept.parts_left = static_cast<std::uint32_t>(needs_.shards.size());
  Scatter(session, id, kept, message.keys);
}

void ReadPath::Scatter(const NodeSession& session, GatherId id, const Gather& gather,
                       absl::Span<const Key> keys) {
  const auto shards = static_cast<std::uint32_t>(needs_.shards.size());
  std::vector<AcquirePart> parts(shards);
  for (AcquirePart& part : parts) {
    part.gather = id;
    part.session = session.id;
    part.pin = gather.pin;
    part.root = session.root_id;
    part.pin_duration = PinDuration(readers_.at(session.id));
    part.indices.reserve(keys.size() / shards + 1);
    part.keys.reserve(keys.size() / shards + 1);
    part.kinds.reserve(keys.size() / shards + 1);
  }
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    AcquirePart& part = parts[ShardOf(keys[i], shards)];
    part.indices.push_back(i);
    part.keys.push_back(keys[i]);
    part.kinds.push_back(gather.kinds[i]);
  }
  for (ShardIndex s = 0; s < shards; ++s) {
    PostTo(s,
           [part = std::move(parts[s])](Shard& shard) mutable { shard.Acquire(std::move(part)); });
  }
}

void ReadPath::OnAcquiredPart(AcquiredPart part) {
  const auto it = gathers_.find(part.gather);
  if (it == gathers_.end()) {
    CAIRN_COVERED("node_session_ended_while_gathering");
    return;
  }
  Gather& gather = it->second;
  gather.hits.reserve(gather.hits.size() + part.hits.size());
  for (const wire::Descriptor& hit : part.hits) gather.hits.push_back({hit, part.shard});
  gather.capped += part.capped;
  if (--gather.parts_left > 0) return;
  auto done = gathers_.extract(it);
  Reader& reader = readers_.at(done.mapped().session);
  --reader.gathers;
  Finish(std::move(done.mapped()), reader);
}

// All shards have pinned what they have: what is there now is one consistent cut.
void ReadPath::Finish(Gather gather, Reader& reader) {
  std::vector<Gather::Hit>& hits = gather.hits;
  if (needs_.shards.size() > 1) {
    std::sort(hits.begin(), hits.end(), [](const Gather::Hit& a, const Gather::Hit& b) {
      return a.descriptor.index < b.descriptor.index;
    });
  }
  std::vector<wire::Descriptor> descriptors;
  descriptors.reserve(hits.size());
  for (const Gather::Hit& hit : hits) descriptors.push_back(hit.descriptor);

  Cut cut;
  if (needs_.loop.Now() >= gather.deadline) {
    CAIRN_COVERED("node_acquire_overdue");
    ++needs_.stats.acquires_late;  // the caller has gone on without us
  } else {
    cut = ChooseCut({.is_hybrid = gather.is_hybrid,
                     .resume_depth_max = gather.resume_depth_max,
                     .block_tokens = reader.block_tokens,
                     .budget = needs_.options.pins_per_session_max - reader.pinned_keys},
                    gather.kinds, descriptors);
  }
  cut.capped += gather.capped;
  needs_.stats.keys_capped += cut.capped;
  std::vector<bool> is_kept(hits.size(), false);
  wire::Acquired answer{.request = gather.request,
                        .pin = cut.kept.empty() ? PinId() : gather.pin,
                        .resume_depth = cut.resume_depth,
                        .capped = cut.capped};
  answer.hits.reserve(cut.kept.size());
  for (const std::uint32_t i : cut.kept) {
    is_kept[i] = true;
    answer.hits.push_back(descriptors[i]);
  }
  if (needs_.overlaps != nullptr) needs_.overlaps->Tell(gather.seen, gather.is_hybrid, answer);
  ReleaseUnkept(gather, is_kept);
  if (!cut.kept.empty()) RecordPin(gather, reader, is_kept);
  const absl::Status sent =
      needs_.lanes.Send(reader.peer, wire::Type::kAcquired, wire::Encode(answer));
  if (cut.kept.empty()) return;
  if (!sent.ok()) {
    CAIRN_COVERED("node_answer_not_sent");
    ReleasePin(gather.session, reader, gather.pin);
  } else if (gather.want == wire::Want::kPull) {
    wire::Pull pull{.request = gather.request, .pin = gather.pin};
    for (const wire::Descriptor& hit : answer.hits) pull.indices.push_back(hit.index);
    Pull(gather.session, reader, pull, gather.deadline);
  }
}

void ReadPath::ReleaseUnkept(const Gather& gather, const std::vector<bool>& is_kept) {
  std::map<ShardIndex, std::vector<std::uint32_t>> unkept;
  for (std::size_t i = 0; i < gather.hits.size(); ++i) {
    if (!is_kept[i]) unkept[gather.hits[i].shard].push_back(gather.hits[i].descriptor.index);
  }
  for (auto& [shard, indices] : unkept) {
    CAIRN_COVERED("node_cut_released_keys");
    PostTo(shard, [session = gather.session, pin = gather.pin, indices = std::move(indices)](
                      Shard& to) { to.ReleaseKeys(session, pin, indices); });
  }
}

// ---- pins ----

void ReadPath::RecordPin(const Gather& gather, Reader& reader, const std::vector<bool>& is_kept) {
  PinRecord record{.keys = {}, .ends = needs_.loop.Now() + PinDuration(reader)};
  for (std::size_t i = 0; i < gather.hits.size(); ++i) {
    if (is_kept[i]) record.keys.push_back({gather.hits[i].descriptor.index, gather.hits[i].shard});
  }
  reader.pinned_keys += record.keys.size();
  pins_by_end_.emplace(record.ends, gather.session, gather.pin);
  reader.pins.emplace(gather.pin, std::move(record));
  ArmPins();
}

void ReadPath::ReleasePin(SessionId session, Reader& reader, PinId pin) {
  const auto it = reader.pins.find(pin);
  if (it == reader.pins.end()) return;  // aged, or released twice
  std::set<ShardIndex> shards;
  for (const PinnedAt& key : it->second.keys) shards.insert(key.shard);
  for (const ShardIndex shard : shards) {
    PostTo(shard, [session, pin](Shard& to) { to.Release(session, {&pin, 1}); });
  }
  reader.pinned_keys -= it->second.keys.size();
  pins_by_end_.erase({it->second.ends, session, pin});
  reader.pins.erase(it);
}

void ReadPath::ArmPins() {
  const Instant next =
      pins_by_end_.empty() ? Instant::Infinite() : std::get<Instant>(*pins_by_end_.begin());
  if (next >= pins_armed_) return;
  if (pins_armed_ != Instant::Infinite()) needs_.loop.Cancel(pin_timer_);
  pins_armed_ = next;
  pin_timer_ = needs_.loop.RunAt(next, [this] { ExpirePins(); });
}

// The shards have their own clock for this and may have been first; a second end is none.
void ReadPath::ExpirePins() {
  pins_armed_ = Instant::Infinite();
  while (!pins_by_end_.empty()) {
    const auto [ends, session, pin] = *pins_by_end_.begin();
    if (ends > needs_.loop.Now()) break;
    ReleasePin(session, readers_.at(session), pin);
  }
  ArmPins();
}

void ReadPath::OnRelease(const NodeSession& session, const wire::Release& message) {
  Reader& reader = readers_.at(session.id);
  for (const PinId pin : message.pins) ReleasePin(session.id, reader, pin);
}

void ReadPath::OnSuspect(const NodeSession& session, const wire::Suspect& message) {
  const Reader& reader = readers_.at(session.id);
  const auto pin = reader.pins.find(message.pin);
  if (pin == reader.pins.end()) return;
  for (const PinnedAt& key : pin->second.keys) {
    if (key.index != message.index) continue;
    PostTo(key.shard, [session = session.id, pin = message.pin, index = key.index](Shard& to) {
      to.Suspect(session, pin, index);
    });
  }
}

}  // namespace cairn
