#include "libs/block/slot_pool.h"

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
  if (unassigned_.empty()) return false;
  const SegmentLayout layout = LayOutSegment(options_.segment_bytes, slot_bytes);
  if (layout.slots == 0) return false;
  std::optional<SizeClass> size_class = FindClassOfSlots(slot_bytes);
  if (!size_class.has_value()) {
    if (classes_.size() >= limits::kSizeClassesMax) return false;
    size_class = SizeClass(static_cast<std::uint32_t>(classes_.size()));
    classes_.push_back(Class{.stats = {.slot_bytes = slot_bytes}});
  }
  const SegmentId id = unassigned_.back();
  unassigned_.pop_back();
  --stats_.segments_unassigned;

  Segment& segment = segments_[id.value()];
  segment.words.Start(layout.slots);
  segment.is_assigned = true;
  segment.size_class = *size_class;
  segment.layout = layout;
  segment.slots.resize(layout.slots);

  Class& owner = classes_[size_class->value()];
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

std::optional<SizeClass> SlotPool::FindClass(std::uint64_t bytes) const {
  return FindClassOfSlots(SlotBytesFor(bytes));
}

std::optional<SizeClass> SlotPool::FindClassOfSlots(std::uint64_t slot_bytes) const {
  for (std::uint32_t i = 0; i < classes_.size(); ++i) {  // a handful: one per model and kind
    if (classes_[i].stats.slot_bytes == slot_bytes) return SizeClass(i);
  }
  return std::nullopt;
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

const SlotPool::Segment& SlotPool::SegmentOf(Place place) const {
  CAIRN_CHECK(place.segment.value() < segments_.size()) << place.segment.value();
  const Segment& segment = segments_[place.segment.value()];
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
