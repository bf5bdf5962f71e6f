#include "libs/block/slot_pool.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mark.h"

namespace cairn {
namespace {

constexpr std::size_t At(SlotState state) { return static_cast<std::size_t>(state); }

}  // namespace

// ---- FillingSlot ----

FillingSlot::FillingSlot(FillingSlot&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), place_(other.place_) {}

FillingSlot& FillingSlot::operator=(FillingSlot&& other) noexcept {
  if (this != &other) {
    Return();
    pool_ = std::exchange(other.pool_, nullptr);
    place_ = other.place_;
  }
  return *this;
}

FillingSlot::~FillingSlot() { Return(); }

void FillingSlot::Return() {
  if (SlotPool* pool = std::exchange(pool_, nullptr)) pool->ReturnUnfilled(place_);
}

absl::StatusOr<ReadySlot> FillingSlot::Publish(const SlotSums& sums) && {
  CAIRN_CHECK(owns_slot()) << "published twice";
  if (sums.offered != sums.landed) {
    CAIRN_COVERED("put_torn");
    Return();
    return absl::DataLossError(absl::StrCat("offered checksum ", absl::Hex(sums.offered.value()),
                                            ", landed ", absl::Hex(sums.landed.value())));
  }
  return std::exchange(pool_, nullptr)->PublishFilled(place_);
}

// ---- SlotPool ----

SlotPool::SlotPool(const Options& options, const SlotHolds& holds)
    : options_(options), holds_(holds) {
  CAIRN_CHECK(options.segment_bytes > 0);
  CAIRN_CHECK(options.segment_bytes <= limits::kSegmentBytesMax) << options.segment_bytes;
}

SlotPool::~SlotPool() {
  CAIRN_CHECK(stats_.of(SlotState::kFilling).slots == 0) << "a FillingSlot outlived its pool";
}

void SlotPool::AddSegment(SegmentId segment, SlotWords words) {
  CAIRN_CHECK(segment.value() < limits::kArenaSegmentsMax) << segment.value();
  if (segment.value() >= segments_.size()) segments_.resize(segment.value() + 1);
  Segment& added = segments_[segment.value()];
  CAIRN_CHECK(!added.is_added) << segment.value();
  added.is_added = true;
  added.words = words;
  unassigned_.insert(unassigned_.begin(), segment);  // first come, first used
  ++stats_.segments;
  ++stats_.segments_unassigned;
}

std::optional<FillingSlot> SlotPool::Take(std::uint64_t bytes) {
  const std::uint64_t slot_bytes = SlotBytesFor(bytes);
  std::optional<SizeClass> size_class = FindClassOfSlots(slot_bytes);
  if (!size_class.has_value() || classes_[size_class->value()].free.empty()) {
    if (!AssignSegment(slot_bytes)) return std::nullopt;
    size_class = FindClassOfSlots(slot_bytes);
  }
  std::vector<Place>& free = classes_[size_class->value()].free;
  const Place place = free.back();
  free.pop_back();
  Move(place, SlotState::kFree, SlotState::kFilling);
  return FillingSlot(this, place);
}

// Gives an unassigned segment to the slots of one size.
bool SlotPool::AssignSegment(std::uint64_t slot_bytes) {
  if (!CouldTake(slot_bytes)) return false;
  if (unassigned_.empty()) UnassignAnEmptyOne();
  if (unassigned_.empty()) return false;
  const SizeClass size_class = MakeClass(slot_bytes);
  const SegmentId id = unassigned_.back();
  unassigned_.pop_back();
  --stats_.segments_unassigned;

  const SegmentLayout layout = LayOutSegment(options_.segment_bytes, slot_bytes);
  Segment& segment = segments_[id.value()];
  segment.words.Start(layout.slots, segment.next_first);
  segment.is_assigned = true;
  segment.size_class = size_class;
  segment.layout = layout;
  segment.slots.assign(layout.slots, Slot{.generation = segment.next_first});

  Class& owner = classes_[size_class.value()];
  ++owner.stats.segments;
  owner.free.reserve(owner.free.size() + layout.slots);
  for (std::uint32_t slot = layout.slots; slot-- > 0;) {  // the lowest is taken first
    owner.free.push_back(Place{id, SlotId(slot)});
  }
  owner.stats.slots[At(SlotState::kFree)] += layout.slots;
  stats_.states[At(SlotState::kFree)].slots += layout.slots;
  stats_.states[At(SlotState::kFree)].bytes += layout.slots * slot_bytes;
  return true;
}

bool SlotPool::CouldTake(std::uint64_t bytes) const {
  const std::uint64_t slot_bytes = SlotBytesFor(bytes);
  return LayOutSegment(options_.segment_bytes, slot_bytes).slots > 0 &&
         (classes_.size() < limits::kSizeClassesMax || FindClassOfSlots(slot_bytes).has_value() ||
          FindClassWithoutSegments().has_value());
}

SizeClass SlotPool::MakeClass(std::uint64_t slot_bytes) {
  if (const auto known = FindClassOfSlots(slot_bytes)) return *known;
  if (classes_.size() < limits::kSizeClassesMax) {
    classes_.push_back(Class{.stats = {.slot_bytes = slot_bytes}});
    return SizeClass(static_cast<std::uint32_t>(classes_.size() - 1));
  }
  const SizeClass reused = *FindClassWithoutSegments();
  classes_[reused.value()].stats.slot_bytes = slot_bytes;
  return reused;
}

std::optional<SizeClass> SlotPool::FindClass(std::uint64_t bytes) const {
  return FindClassOfSlots(SlotBytesFor(bytes));
}

std::optional<SizeClass> SlotPool::FindClassOfSlots(std::uint64_t slot_bytes) const {
  for (std::uint32_t i = 0; i < classes_.size(); ++i) {  // a handful: one per model and kind
    if (classes_[i].stats.slot_bytes == slot_bytes) return SizeClass(i);
  }
  return std::nullopt;
}

std::optional<SizeClass> SlotPool::FindClassWithoutSegments() const {
  for (std::uint32_t i = 0; i < classes_.size(); ++i) {
    if (classes_[i].stats.segments == 0) return SizeClass(i);
  }
  return std::nullopt;
}

// ---- another size for a segment ----

void SlotPool::UnassignAnEmptyOne() {
  for (std::uint32_t i = 0; i < segments_.size(); ++i) {
    if (segments_[i].is_assigned && segments_[i].in_use == 0) return Unassign(SegmentId(i));
  }
}

bool SlotPool::CouldEmpty(SegmentId segment) const {
  const Segment& s = AddedSegment(segment);
  return s.is_assigned && s.in_transition == 0;
}

std::vector<Place> SlotPool::ReadySlotsOf(SegmentId segment) const {
  const Segment& s = AddedSegment(segment);
  std::vector<Place> ready;
  for (std::uint32_t i = 0; i < s.slots.size(); ++i) {
    if (s.slots[i].state == SlotState::kReady) ready.push_back({segment, SlotId(i)});
  }
  return ready;
}

std::size_t SlotPool::SlotsIn(SegmentId segment) const {
  return AddedSegment(segment).slots.size();
}

void SlotPool::Unassign(SegmentId segment) {
  CAIRN_CHECK(CouldEmpty(segment)) << "segment " << segment.value();
  Segment& s = segments_[segment.value()];
  CAIRN_CHECK(s.in_use == 0) << "segment " << segment.value() << " is not empty";
  for (const Slot& slot : s.slots) {
    s.next_first = std::max(s.next_first, Generation(slot.generation.value() + 1));
  }
  const std::uint64_t slots = s.slots.size();
  stats_.states[At(SlotState::kFree)].slots -= slots;
  stats_.states[At(SlotState::kFree)].bytes -= slots * s.layout.slot_bytes;
  Class& owner = classes_[s.size_class.value()];
  --owner.stats.segments;
  owner.stats.slots[At(SlotState::kFree)] -= slots;
  std::erase_if(owner.free, [&](const Place& place) { return place.segment == segment; });
  s.slots.clear();
  s.is_assigned = false;
  unassigned_.push_back(segment);
  ++stats_.segments_unassigned;
}

ReadySlot SlotPool::PublishFilled(Place place) {
  Move(place, SlotState::kFilling, SlotState::kReady);
  return ReadySlot{place, GenerationOf(place)};
}

// Nothing was visible under this generation, so the next writer may have it.
void SlotPool::ReturnUnfilled(Place place) {
  Move(place, SlotState::kFilling, SlotState::kFree);
  classes_[ClassOf(place).value()].free.push_back(place);
}

void SlotPool::Evict(Place place) {
  Move(place, SlotState::kReady, SlotState::kEvicting);
  if (holds_.IsHeld(place)) {
    CAIRN_COVERED("evicted_while_held");
    return;
  }
  Free(place);
}

void SlotPool::Quarantine(Place place) {
  const SlotState state = StateOf(place);
  CAIRN_CHECK(state == SlotState::kReady || state == SlotState::kEvicting) << At(state);
  Move(place, state, SlotState::kQuarantined);
  AdvanceWord(place);
  if (holds_.IsHeld(place)) {
    CAIRN_COVERED("quarantined_while_held");
    return;
  }
  Free(place);
}

void SlotPool::HoldsEnded(Place place) {
  const SlotState state = StateOf(place);
  if (state == SlotState::kEvicting || state == SlotState::kQuarantined) Free(place);
}

void SlotPool::Free(Place place) {
  CAIRN_CHECK(!holds_.IsHeld(place)) << "slot " << place.slot.value() << " freed while held";
  const SlotState state = StateOf(place);
  // A quarantined slot's word moved when it was found bad; nobody was told of the new one since.
  if (state == SlotState::kEvicting) AdvanceWord(place);
  Move(place, state, SlotState::kFree);
  classes_[ClassOf(place).value()].free.push_back(place);
}

void SlotPool::AdvanceWord(Place place) {
  Segment& segment = SegmentOf(place);
  Slot& slot = segment.slots[place.slot.value()];
  // Kept here too, so that a flipped bit in the shared table cannot send the word backwards.
  slot.generation = Generation(slot.generation.value() + 1);
  segment.words.Advance(place.slot, slot.generation);
}

void SlotPool::Move(Place place, SlotState from, SlotState to) {
  Segment& segment = SegmentOf(place);
  Slot& slot = segment.slots[place.slot.value()];
  CAIRN_CHECK(slot.state == from) << "segment " << place.segment.value() << " slot "
                                  << place.slot.value() << " is in state " << At(slot.state)
                                  << ", not " << At(from);
  slot.state = to;
  const auto in_use = [](SlotState s) { return s != SlotState::kFree ? 1 : 0; };
  const auto in_transition = [&](SlotState s) { return s != SlotState::kReady ? in_use(s) : 0; };
  segment.in_use += in_use(to) - in_use(from);
  segment.in_transition += in_transition(to) - in_transition(from);
  const std::uint64_t bytes = segment.layout.slot_bytes;
  stats_.states[At(from)].slots -= 1;
  stats_.states[At(from)].bytes -= bytes;
  stats_.states[At(to)].slots += 1;
  stats_.states[At(to)].bytes += bytes;
  Class& owner = classes_[segment.size_class.value()];
  owner.stats.slots[At(from)] -= 1;
  owner.stats.slots[At(to)] += 1;
}

SlotPool::Segment& SlotPool::SegmentOf(Place place) {
  return const_cast<Segment&>(static_cast<const SlotPool*>(this)->SegmentOf(place));
}

const SlotPool::Segment& SlotPool::AddedSegment(SegmentId segment) const {
  CAIRN_CHECK(segment.value() < segments_.size()) << segment.value();
  return segments_[segment.value()];
}

const SlotPool::Segment& SlotPool::SegmentOf(Place place) const {
  const Segment& segment = AddedSegment(place.segment);
  CAIRN_CHECK(place.slot.value() < segment.slots.size())
      << "segment " << place.segment.value() << " slot " << place.slot.value();
  return segment;
}

SlotState SlotPool::StateOf(Place place) const {
  return SegmentOf(place).slots[place.slot.value()].state;
}
Generation SlotPool::GenerationOf(Place place) const {
  return SegmentOf(place).slots[place.slot.value()].generation;
}
SizeClass SlotPool::ClassOf(Place place) const { return SegmentOf(place).size_class; }
std::uint64_t SlotPool::OffsetOf(Place place) const {
  return SegmentOf(place).layout.OffsetOf(place.slot);
}
std::uint64_t SlotPool::SlotBytesOf(Place place) const {
  return SegmentOf(place).layout.slot_bytes;
}

std::vector<SlotPool::ClassStats> SlotPool::ClassesStats() const {
  std::vector<ClassStats> out;
  out.reserve(classes_.size());
  for (const Class& c : classes_) out.push_back(c.stats);
  return out;
}

}  // namespace cairn
