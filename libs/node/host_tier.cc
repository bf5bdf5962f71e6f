#include "libs/node/host_tier.h"

#include <utility>

#include "libs/base/check.h"
#include "libs/base/mark.h"
#include "libs/base/status_macros.h"

namespace cairn {

HostTier::HostTier(const Options& options, const Arena& arena, absl::Span<const SegmentId> segments,
                   ChildMessages& children)
    : options_(options),
      arena_(arena),
      children_(children),
      pins_(options.pins, *this),
      pool_(SlotPool::Options{.segment_bytes = arena.segment_bytes()}, *this),
      index_(options.index) {
  AddSegments(segments);
}

void HostTier::AddSegments(absl::Span<const SegmentId> segments) {
  for (const SegmentId segment : segments) {
    SlotWords words = arena_.words(segment);
    if (options_.faults.skip_generation_bump) {
      const std::size_t count = arena_.words_bytes() / sizeof(std::uint64_t);
      for (std::size_t i = 0; i < count; ++i) {
        words.Advance(SlotId(static_cast<std::uint32_t>(i)), kFirstGeneration);
      }
      hidden_words_.emplace_back(count);
      words = SlotWords(absl::MakeSpan(hidden_words_.back()));
    }
    pool_.AddSegment(segment, words);
  }
}

Generation HostTier::GenerationOf(Place place) const {
  return options_.faults.skip_generation_bump ? kFirstGeneration : pool_.GenerationOf(place);
}

absl::Span<std::byte> HostTier::BytesOf(Place place, std::uint64_t bytes) const {
  CAIRN_CHECK(bytes <= pool_.SlotBytesOf(place)) << bytes;
  return arena_.bytes(place.segment).subspan(pool_.OffsetOf(place), bytes);
}

// ---- holds ----

bool HostTier::IsHeld(Place place) const { return pins_.IsHeld(place); }

void HostTier::OnSlotHeld(Place place) { order_.Pin(place); }

void HostTier::OnSlotLetGo(Place place) {
  order_.Unpin(place);
  pool_.HoldsEnded(place);
}

// ---- coming ----

std::optional<FillingSlot> HostTier::TakeSlot(std::uint64_t bytes, Instant now) {
  std::optional<FillingSlot> slot = pool_.Take(bytes);
  if (!slot.has_value() && MakeRoom(bytes, now)) slot = pool_.Take(bytes);
  if (!slot.has_value()) {
    CAIRN_COVERED("node_no_room");
    ++stats_.no_room;
  }
  return slot;
}

bool HostTier::MakeRoom(std::uint64_t bytes, Instant now) {
  if (!pool_.CouldTake(bytes)) return false;
  const std::optional<SizeClass> size_class = pool_.FindClass(bytes);
  // Not before each slot could have been used once: more sizes than segments would otherwise take
  // them from each other at every put.
  const auto may_go = [this](SegmentId id) {
    return pool_.CouldEmpty(id) && order_.UsesSinceSized(id) >= pool_.SlotsIn(id);
  };
  if (const std::optional<SegmentId> segment = order_.VictimSegment(size_class, may_go)) {
    EmptySegment(*segment, now);
    return true;
  }
  if (!size_class.has_value()) return false;
  const std::optional<Place> victim = order_.Victim(*size_class);
  if (!victim.has_value()) return false;
  EvictForRoom(*victim, now);
  return true;
}

void HostTier::EvictForRoom(Place place, Instant now) {
  const std::optional<Index::Removed> removed =
      index_.RemoveAt(place, RemovalReason::kEvicted, now);
  CAIRN_CHECK(removed.has_value()) << "the order knows an entry that the index does not";
  Unlink(*removed);
  pool_.Evict(place);
  ++stats_.evictions;
}

void HostTier::EmptySegment(SegmentId segment, Instant now) {
  CAIRN_COVERED("segment_resized");
  for (const Place place : pool_.ReadySlotsOf(segment)) EvictForRoom(place, now);
  pool_.Unassign(segment);
  ++stats_.segments_resized;
}

absl::StatusOr<const Entry*> HostTier::Publish(FillingSlot slot, NewEntry entry, Checksum landed,
                                               Instant now) {
  entry.place = slot.place();
  CAIRN_RETURN_IF_ERROR(
      std::move(slot).Publish({.offered = entry.checksum, .landed = landed}).status());
  entry.generation = GenerationOf(entry.place);
  entry.parent_is_elsewhere = entry.parent.has_value() && !children_.IsHere(*entry.parent);
  const Index::Inserted inserted = index_.Insert(entry, now);
  if (inserted.entry == nullptr) {
    CAIRN_COVERED("node_index_full");
    pool_.Evict(entry.place);
    return absl::ResourceExhaustedError("the index is full");
  }
  order_.Insert(entry.place, pool_.ClassOf(entry.place));
  if (inserted.became_inner.has_value()) order_.SetLeaf(*inserted.became_inner, false);
  if (entry.parent_is_elsewhere) {
    children_.SendAddChild(IndexKey{entry.id.root, *entry.parent}, entry.depth);
  }
  return inserted.entry;
}

// ---- reading ----

HostTier::Pinned HostTier::Pin(const PinRequest& request, Instant now) {
  found_.resize(request.keys.size());
  const std::size_t count =
      index_.UseAll(request.root, request.keys, request.kinds, now, absl::MakeSpan(found_));
  std::vector<PinnedKey> pinned;
  Pinned out;
  pinned.reserve(count);
  out.hits.reserve(count);
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (found_[i] == nullptr) continue;
    pinned.push_back({request.indices[i], found_[i]->place});
    out.hits.push_back({request.indices[i], found_[i]});
    order_.Touch(found_[i]->place);
  }
  if (out.hits.empty()) return out;
  out.hits.resize(pins_.Grant(request.session, request.pin, pinned, now, request.pin_duration));
  out.capped = static_cast<std::uint32_t>(pinned.size() - out.hits.size());
  return out;
}

// ---- going ----

void HostTier::Unlink(const Index::Removed& removed) {
  order_.Remove(removed.entry.place);
  if (removed.became_leaf.has_value()) order_.SetLeaf(*removed.became_leaf, true);
  if (removed.entry.parent_link == ParentLink::kElsewhere) {
    children_.SendDropChild(IndexKey{removed.entry.id.root, removed.entry.parent});
  }
}

bool HostTier::EvictByAdmin(const IndexKey& id, Instant now) {
  const Entry* const entry = index_.Find(id);
  if (entry == nullptr || pins_.IsHeld(entry->place)) return false;
  const std::optional<Index::Removed> removed = index_.Remove(id, RemovalReason::kAsked, now);
  Unlink(*removed);
  pool_.Evict(removed->entry.place);
  ++stats_.evicted_by_admin;
  return true;
}

void HostTier::Quarantine(Place place, Instant now) {
  const SlotState state = pool_.StateOf(place);
  if (state != SlotState::kReady && state != SlotState::kEvicting) {
    CAIRN_COVERED("node_quarantined_twice");
    return;  // another re-hash of the same slot came first
  }
  if (const std::optional<Index::Removed> removed =
          index_.RemoveAt(place, RemovalReason::kQuarantined, now)) {
    Unlink(*removed);
  }
  pool_.Quarantine(place);
  ++stats_.quarantined;
}

void HostTier::AddChild(const IndexKey& parent, std::uint64_t child_depth) {
  if (const std::optional<Place> inner = index_.AddChild(parent, child_depth)) {
    order_.SetLeaf(*inner, false);
  }
}

void HostTier::DropChild(const IndexKey& parent) {
  if (const std::optional<Place> leaf = index_.DropChild(parent)) order_.SetLeaf(*leaf, true);
}

}  // namespace cairn
