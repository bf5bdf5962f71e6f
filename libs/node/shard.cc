#include "libs/node/shard.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/base/mark.h"

namespace cairn {
namespace {

HostTier::Options TierOptions(const NodeOptions& options, std::size_t segments) {
  const std::uint64_t slots = segments * options.segment_bytes / kPieceBytes;
  return HostTier::Options{
      .pins = {.pins_max = limits::kPinsMax,
               .keys_max = limits::kPinnedKeysMax,
               .keys_per_session_max = options.pins_per_session_max,
               .holds_max = options.ceilings.holds,
               .age_max = std::max(options.pin_age_max, options.remote_pin_age_max)},
      .index = {.entries_max = static_cast<std::uint32_t>(
                    std::min<std::uint64_t>(slots, options.ceilings.entries)),
                .removals_remembered = limits::kRemovalsRememberedMax},
      .faults = options.faults};
}

Filler::Options FillerOptions(const NodeOptions& options) {
  const std::uint32_t loans = std::max<std::uint32_t>(1, options.loans_max / options.shards);
  return Filler::Options{.fills = {.offers_max = options.ceilings.open_offers,
                                   .pending_per_key_max = options.ceilings.pending_per_key,
                                   .fill_max = options.fill_max},
                         .loans = {.loans_max = loans, .per_session_max = loans},
                         .faults = options.faults};
}

}  // namespace

ShardIndex ShardOf(const Key& key, std::uint32_t shards) {
  std::uint32_t bits;  // not the first bytes: hash tables use those
  std::memcpy(&bits, key.bytes.data() + 16, sizeof bits);
  return bits % shards;
}

Shard::Shard(ShardIndex index, const Needs& needs, absl::Span<const SegmentId> segments,
             Sibling sibling)
    : index_(index),
      needs_(needs),
      sibling_(std::move(sibling)),
      tier_(TierOptions(needs.options, segments.size()), needs.arena, segments, *this),
      rehasher_({tier_, needs.copier, needs.loop, needs.options.ceilings.rehashes},
                [this] { MaybeStopped(); }),
      filler_(FillerOptions(needs.options), {tier_, rehasher_, needs.copier, needs.loop, *this}),
      admin_(tier_, rehasher_, filler_, needs.loop, [this] { MaybeStopped(); }) {}

// ---- read path ----

void Shard::Acquire(AcquirePart part) {
  const HostTier::Pinned pinned = tier_.Pin({.session = part.session,
                                             .pin = part.pin,
                                             .root = part.root,
                                             .indices = part.indices,
                                             .keys = part.keys,
                                             .kinds = part.kinds,
                                             .pin_duration = part.pin_duration},
                                            needs_.loop.Now());
  counters_.hits += pinned.hits.size();
  counters_.misses += part.keys.size() - pinned.hits.size();
  AcquiredPart answer{.gather = part.gather, .shard = index_, .capped = pinned.capped};
  answer.hits.reserve(pinned.hits.size());
  for (const HostTier::Hit& hit : pinned.hits) {
    answer.hits.push_back({.index = hit.index,
                           .place = hit.entry->place,
                           .offset = tier_.pool().OffsetOf(hit.entry->place),
                           .generation = hit.entry->generation,
                           .bytes = hit.entry->bytes,
                           .checksum = hit.entry->checksum,
                           .depth = hit.entry->depth});
  }
  Tell([answer = std::move(answer)](ShardReplies& front) mutable {
    front.OnAcquiredPart(std::move(answer));
  });
  Arm();
}

void Shard::ReleaseKeys(SessionId session, PinId pin, absl::Span<const std::uint32_t> indices) {
  tier_.pins().ReleaseKeys(session, pin, indices);
}

void Shard::Release(SessionId session, absl::Span<const PinId> pins) {
  for (const PinId pin : pins) tier_.pins().Release(session, pin);
}

// The entry that a live pin covers; nullptr if the pin has ended, or the entry was quarantined.
const Entry* Shard::FindPinned(SessionId session, PinId pin, std::uint32_t index) {
  const std::optional<Place> place = tier_.pins().Find(session, pin, index);
  const Entry* const entry = place.has_value() ? tier_.index().AtPlace(*place) : nullptr;
  if (entry == nullptr) {
    CAIRN_COVERED("node_pin_is_stale");
    ++counters_.stale;
  }
  return entry;
}

void Shard::Suspect(SessionId session, PinId pin, std::uint32_t index) {
  ++counters_.suspects;
  const Entry* const entry = FindPinned(session, pin, index);
  if (entry == nullptr) return;
  const absl::Status started = rehasher_.Check(*entry, [this, key = entry->id.key](bool is_sound) {
    if (is_sound) {
      CAIRN_COVERED("node_suspect_refuted");
      ++counters_.suspects_refuted;
    } else {
      LogEvent(LogLevel::kError, "entry_quarantined").With("key", key.ToHex()).With("by", "reader");
    }
  });
  // At the limit the reader's word is dropped: it has made its miss, and the next reader will say
  // so.
  if (!started.ok()) CAIRN_COVERED("node_suspect_dropped");
}

void Shard::Hold(HoldPart part) {
  HeldPart answer{
      .session = part.session, .request = part.request, .deadline = part.deadline, .shard = index_};
  for (const std::uint32_t index : part.indices) {
    HeldEntry held{.index = index};
    if (const Entry* const entry = FindPinned(part.session, part.pin, index)) {
      if (absl::StatusOr<SlotHold> hold = tier_.pins().Hold(entry->place); hold.ok()) {
        held.hold = HoldId(++last_hold_);
        held.bytes = tier_.BytesOf(entry->place, entry->bytes);
        held.checksum = entry->checksum;
        holds_.emplace(held.hold, *std::move(hold));
      }
    }
    answer.entries.push_back(held);
  }
  Tell([answer = std::move(answer)](ShardReplies& front) mutable {
    front.OnHeldPart(std::move(answer));
  });
}

void Shard::DropHold(HoldId hold) {
  CAIRN_CHECK(holds_.erase(hold) == 1) << hold.value();
  MaybeStopped();
}

// ---- write path ----

void Shard::Offer(OfferPart part) {
  filler_.Offer(std::move(part));
  Arm();
}

void Shard::LandingEnded(FillId fill, const absl::Status& status) {
  filler_.LandingEnded(fill, status);
  Arm();
  MaybeStopped();
}

void Shard::OnVerdicts(OfferVerdicts verdicts) {
  verdicts.shard = index_;
  Tell([verdicts = std::move(verdicts)](ShardReplies& front) mutable {
    front.OnOfferVerdicts(std::move(verdicts));
  });
}

// Results of one turn of the loop travel together.
void Shard::OnResult(const Offerer& offerer, wire::StoreResult result) {
  if (results_.empty()) needs_.loop.Post([this] { FlushResults(); });
  results_[{offerer.session, offerer.request}].push_back({offerer.index, result});
}

void Shard::FlushResults() {
  for (auto& [of, entries] : results_) {
    Tell([results = OfferResults{of.first, of.second, std::move(entries)}](
             ShardReplies& front) mutable { front.OnOfferResults(std::move(results)); });
  }
  results_.clear();
  Arm();
  MaybeStopped();
}

void Shard::OnContest(ConflictReport report) {
  Tell([report](ShardReplies& front) { front.OnConflict(report); });
}

// ---- children of parents on other shards ----

bool Shard::IsHere(const Key& key) const { return ShardOf(key, needs_.options.shards) == index_; }

void Shard::SendAddChild(const IndexKey& parent, std::uint64_t child_depth) {
  Shard& to = sibling_(ShardOf(parent.key, needs_.options.shards));
  to.loop().Post([&to, parent, child_depth] { to.AddChild(parent, child_depth); });
}

void Shard::SendDropChild(const IndexKey& parent) {
  Shard& to = sibling_(ShardOf(parent.key, needs_.options.shards));
  to.loop().Post([&to, parent] { to.DropChild(parent); });
}

// ---- ends ----

void Shard::EndSession(SessionId session) {
  if (!needs_.options.faults.forget_pins_of_session) tier_.pins().EndSession(session);
  filler_.EndSession(session);
}

void Shard::OnSessionIdle(SessionId session) {
  Tell([shard = index_, session](ShardReplies& front) { front.OnSessionEnded(shard, session); });
  MaybeStopped();
}

void Shard::Arm() {
  const Instant next = std::min(tier_.pins().NextExpiry(), filler_.NextExpiry());
  if (next >= armed_) return;  // a timer that comes too early costs less than resetting it always
  if (armed_ != Instant::Infinite()) needs_.loop.Cancel(timer_);
  armed_ = next;
  timer_ = needs_.loop.RunAt(next, [this] { OnTimer(); });
}

void Shard::OnTimer() {
  armed_ = Instant::Infinite();
  const Instant now = needs_.loop.Now();
  if (const std::size_t aged = tier_.pins().Expire(now); aged > 0) CAIRN_COVERED("node_pin_aged");
  filler_.Expire(now);
  Arm();
}

void Shard::Stop() {
  is_stopping_ = true;
  admin_.Stop();
  MaybeStopped();
}

void Shard::MaybeStopped() {
  if (!is_stopping_ || is_stopped_) return;
  if (!filler_.is_idle() || !rehasher_.is_idle() || !admin_.is_idle()) return;
  if (!holds_.empty() || !results_.empty()) return;
  is_stopped_ = true;
  if (armed_ != Instant::Infinite()) needs_.loop.Cancel(timer_);
  // Messages between shards may still be on their way here; the front waits for all shards and then
  // for one more round (Front::OnShardStopped).
  Tell([shard = index_](ShardReplies& front) { front.OnShardStopped(shard); });
}

ShardStats Shard::Snapshot() const {
  ShardStats s = counters_;
  const PinTable::Stats& pins = tier_.pins().stats();
  s.pins = pins.pinned_keys;
  s.pins_aged = pins.aged_total;
  s.holds = pins.holds;
  s.keys_refused = pins.keys_refused_total;
  s.quarantined = tier_.stats().quarantined;
  s.evictions = tier_.stats().evictions;
  s.segments_resized = tier_.stats().segments_resized;
  s.evicted_by_admin = tier_.stats().evicted_by_admin;
  s.no_room = tier_.stats().no_room;
  const Filler::Stats& f = filler_.stats();
  s.offers = f.offers;
  s.offers_known = f.offers_known;
  s.offers_limited = f.offers_limited;
  s.stored = f.stored;
  s.stored_bytes = f.stored_bytes;
  s.put_torn = f.put_torn;
  s.puts_failed = f.puts_failed;
  s.conflicts = f.conflicts;
  s.pending = filler_.fill_stats().pending;
  s.pending_asked = filler_.fill_stats().turns_total;
  s.loans = filler_.loan_stats().loans;
  s.loans_overdue = filler_.loan_stats().overdue;
  s.entries = tier_.index().size();
  s.verified = admin_.verified();
  const SlotPool::Stats& pool = tier_.pool().stats();
  s.segments = pool.segments;
  s.segments_unassigned = pool.segments_unassigned;
  s.slots = pool.states;
  return s;
}

}  // namespace cairn
