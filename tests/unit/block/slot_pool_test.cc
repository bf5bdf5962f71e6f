#include "libs/block/slot_pool.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "libs/base/limits.h"
#include "libs/base/units.h"
#include "tests/unit/block/pool_fixture.h"

namespace cairn {
namespace {

constexpr std::uint64_t kSlot = 4 * kKiB;
constexpr SlotSums kEqual{.offered = Checksum(5), .landed = Checksum(5)};

using SlotPoolTest = PoolFixture;

TEST_F(SlotPoolTest, TakenSlotIsFillingAndBecomesReadyByPublish) {
  FillingSlot slot = *pool().Take(100);
  const Place place = slot.place();
  EXPECT_EQ(pool().StateOf(place), SlotState::kFilling);
  const ReadySlot ready = *std::move(slot).Publish(kEqual);
  EXPECT_EQ(ready.place, place);
  EXPECT_EQ(ready.generation, kFirstGeneration);
  EXPECT_EQ(WordOf(place), ready.generation) << "what readers see";
  EXPECT_EQ(pool().StateOf(place), SlotState::kReady);
  EXPECT_FALSE(slot.owns_slot());  // NOLINT(bugprone-use-after-move): the point
}

TEST_F(SlotPoolTest, WrongChecksumIsDataLossAndTheSlotIsFreeAgain) {
  FillingSlot slot = *pool().Take(100);
  const Place place = slot.place();
  const absl::StatusOr<ReadySlot> torn =
      std::move(slot).Publish({.offered = Checksum(1), .landed = Checksum(2)});
  EXPECT_EQ(torn.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(pool().StateOf(place), SlotState::kFree);
}

TEST_F(SlotPoolTest, DroppedFillingSlotGoesBack) {
  Place place;
  {
    FillingSlot slot = *pool().Take(100);
    place = slot.place();
    FillingSlot moved = std::move(slot);
    EXPECT_EQ(pool().StateOf(place), SlotState::kFilling) << "moving is not returning";
  }
  EXPECT_EQ(pool().StateOf(place), SlotState::kFree);
}

TEST_F(SlotPoolTest, AssignedOverFillingSlotGoesBack) {
  FillingSlot slot = *pool().Take(100);
  const Place first = slot.place();
  slot = *pool().Take(100);
  EXPECT_EQ(pool().StateOf(first), SlotState::kFree);
  EXPECT_EQ(pool().StateOf(slot.place()), SlotState::kFilling);
}

TEST_F(SlotPoolTest, EvictedSlotIsFreeUnderTheNextGeneration) {
  const Place place = Fill(kSlot);
  pool().Evict(place);
  EXPECT_EQ(pool().StateOf(place), SlotState::kFree);
  EXPECT_EQ(pool().GenerationOf(place), Generation(2));
  EXPECT_EQ(WordOf(place), Generation(2));
}

TEST_F(SlotPoolTest, EvictedSlotThatIsHeldKeepsItsWordUntilLetGo) {
  const Place place = Fill(kSlot);
  Hold(place);
  pool().Evict(place);
  EXPECT_EQ(pool().StateOf(place), SlotState::kEvicting);
  EXPECT_EQ(WordOf(place), Generation(1)) << "its readers still read good bytes";
  LetGo(place);
  EXPECT_EQ(pool().StateOf(place), SlotState::kFree);
  EXPECT_EQ(WordOf(place), Generation(2));
}

TEST_F(SlotPoolTest, QuarantineMovesTheWordAtOnceAndFreesWhenLetGo) {
  const Place place = Fill(kSlot);
  Hold(place);
  pool().Quarantine(place);
  EXPECT_EQ(pool().StateOf(place), SlotState::kQuarantined);
  EXPECT_EQ(WordOf(place), Generation(2));
  LetGo(place);
  EXPECT_EQ(pool().StateOf(place), SlotState::kFree);
  EXPECT_EQ(pool().GenerationOf(place), WordOf(place));
  Place again = Fill(kSlot);
  EXPECT_EQ(again, place);
  EXPECT_EQ(pool().GenerationOf(place), Generation(2)) << "told to nobody while it was bad";
}

TEST_F(SlotPoolTest, EvictingSlotCanBeQuarantined) {
  const Place place = Fill(kSlot);
  Hold(place);
  pool().Evict(place);
  pool().Quarantine(place);
  EXPECT_EQ(WordOf(place), Generation(2));
  LetGo(place);
  EXPECT_EQ(pool().StateOf(place), SlotState::kFree);
  EXPECT_EQ(WordOf(place), Generation(2)) << "one content, one step";
}

TEST_F(SlotPoolTest, LastHoldOfAReadySlotChangesNothing) {
  const Place place = Fill(kSlot);
  Hold(place);
  LetGo(place);
  EXPECT_EQ(pool().StateOf(place), SlotState::kReady);
}

TEST_F(SlotPoolTest, SegmentHasSlotsOfOneSizeAndNoRoomIsAnAnswer) {
  std::vector<FillingSlot> slots;  // two segments of 16 slots of 4 KiB in the fixture
  slots.push_back(*pool().Take(kSlot));
  slots.push_back(*pool().Take(2 * kSlot));
  EXPECT_EQ(slots[0].place().segment, SegmentId(0)) << "segments are used in order";
  EXPECT_EQ(slots[1].place().segment, SegmentId(1));
  EXPECT_EQ(pool().SlotBytesOf(slots[1].place()), 2 * kSlot);
  EXPECT_FALSE(pool().Take(3 * kSlot).has_value());
  EXPECT_FALSE(pool().FindClass(3 * kSlot).has_value()) << "and nothing to evict for it";
  while (std::optional<FillingSlot> slot = pool().Take(kSlot)) slots.push_back(*std::move(slot));
  EXPECT_EQ(slots.size(), 1u + kSlotsOf4KiB) << "one class is full, the other untouched";
  EXPECT_TRUE(pool().Take(2 * kSlot).has_value());
}

TEST_F(SlotPoolTest, EntriesThatRoundToOneSizeShareAClass) {
  const Place small = Fill(kSlot - 100);
  const Place full = Fill(kSlot);
  EXPECT_EQ(small.segment, full.segment);
  EXPECT_EQ(pool().ClassOf(small), *pool().FindClass(1));
}

TEST_F(SlotPoolTest, EntryLargerThanASegmentHasNoRoomAndTakesNoSegment) {
  EXPECT_FALSE(pool().Take(kFixtureSegmentBytes).has_value());
  EXPECT_EQ(pool().stats().segments_unassigned, 2u);
  EXPECT_TRUE(pool().ClassesStats().empty());
}

TEST_F(SlotPoolTest, SegmentWithoutAContentServesAnotherSizeAboveItsOldWords) {
  const Place first = Fill(kSlot);
  const Place second = Fill(kSlot);
  pool().Evict(first);
  Fill(kSlot);  // first's slot again: generation 2
  const FillingSlot other = *pool().Take(2 * kSlot);
  EXPECT_FALSE(pool().Take(3 * kSlot).has_value()) << "both segments have contents";
  EXPECT_TRUE(pool().CouldEmpty(first.segment));
  EXPECT_FALSE(pool().CouldEmpty(other.place().segment)) << "a writer is at work in it";
  for (const Place place : pool().ReadySlotsOf(first.segment)) pool().Evict(place);
  EXPECT_EQ(WordOf(first), Generation(3));

  const Place resized = Fill(3 * kSlot);
  EXPECT_EQ(resized.segment, first.segment) << "an empty segment needs no Unassign by the caller";
  EXPECT_EQ(pool().SlotBytesOf(resized), 3 * kSlot);
  for (const Place place : {first, second}) {
    EXPECT_EQ(WordOf(place), Generation(4)) << "above all that the segment ever had";
  }
  EXPECT_EQ(pool().GenerationOf(resized), Generation(4));
  EXPECT_EQ(pool().ClassesStats().at(0).segments, 0u);
  EXPECT_FALSE(pool().Take(kSlot).has_value()) << "its old slots are nobody's";
}

TEST_F(SlotPoolTest, UnassignedSegmentLeavesNothingInTheCounts) {
  const Place place = Fill(kSlot);
  pool().Evict(place);
  pool().Unassign(place.segment);
  EXPECT_EQ(pool().stats().segments_unassigned, 2u);
  EXPECT_EQ(pool().stats().of(SlotState::kFree).slots, 0u);
  EXPECT_EQ(pool().stats().of(SlotState::kFree).bytes, 0u);
  EXPECT_FALSE(pool().CouldEmpty(place.segment)) << "there is nothing to empty";
}

TEST_F(SlotPoolTest, SizesComeAndGoWithoutEnd) {
  for (std::uint64_t i = 0; i < 10 * limits::kSizeClassesMax; ++i) {
    const std::uint64_t bytes = (i % kSlotsOf4KiB + 1) * kSlot;
    const Place place = Fill(bytes);
    EXPECT_EQ(pool().SlotBytesOf(place), bytes);
    pool().Evict(place);
  }
  EXPECT_LE(pool().ClassesStats().size(), kSlotsOf4KiB);
}

TEST_F(SlotPoolTest, SlotsAreDisjointAndBehindTheTable) {
  std::vector<FillingSlot> slots;
  std::set<std::pair<SegmentId, std::uint64_t>> offsets;
  while (std::optional<FillingSlot> slot = pool().Take(kSlot)) {
    const std::uint64_t offset = pool().OffsetOf(slot->place());
    EXPECT_GE(offset, kSlotsOf4KiB * 8);
    EXPECT_LE(offset + kSlot, kFixtureSegmentBytes);
    EXPECT_EQ(offset % kSlot, 0u);
    EXPECT_TRUE(offsets.emplace(slot->place().segment, offset).second);
    slots.push_back(*std::move(slot));
  }
  EXPECT_EQ(offsets.size(), 2 * kSlotsOf4KiB);
}

TEST_F(SlotPoolTest, StatsCountSlotsAndBytesOfEachState) {
  const Place ready = Fill(kSlot);
  const Place bad = Fill(kSlot);
  Hold(bad);
  pool().Quarantine(bad);
  const FillingSlot filling = *pool().Take(kSlot);
  const SlotPool::Stats& stats = pool().stats();
  EXPECT_EQ(stats.of(SlotState::kReady).slots, 1u);
  EXPECT_EQ(stats.of(SlotState::kReady).bytes, kSlot);
  EXPECT_EQ(stats.of(SlotState::kQuarantined).slots, 1u);
  EXPECT_EQ(stats.of(SlotState::kFilling).slots, 1u);
  EXPECT_EQ(stats.of(SlotState::kFree).slots, kSlotsOf4KiB - 3);
  EXPECT_EQ(stats.of(SlotState::kFree).bytes, (kSlotsOf4KiB - 3) * kSlot);
  EXPECT_EQ(stats.segments, 2u);
  EXPECT_EQ(stats.segments_unassigned, 1u);
  const SlotPool::ClassStats of_class = pool().ClassesStats().at(0);
  EXPECT_EQ(of_class.slot_bytes, kSlot);
  EXPECT_EQ(of_class.segments, 1u);
  EXPECT_EQ(of_class.slots[static_cast<std::size_t>(SlotState::kReady)], 1u);
  pool().Evict(ready);
  LetGo(bad);
}

using SlotPoolDeathTest = PoolFixture;

TEST_F(SlotPoolDeathTest, WrongTransitionsAreBugs) {
  const Place place = Fill(kSlot);
  pool().Evict(place);
  EXPECT_DEATH(pool().Evict(place), "state");
  EXPECT_DEATH(pool().Quarantine(place), "state");
  EXPECT_DEATH(pool().StateOf(Place{SegmentId(9), SlotId(0)}), "segment");
}

TEST_F(SlotPoolDeathTest, UnassigningASegmentWithAContentIsABug) {
  const Place place = Fill(kSlot);
  EXPECT_DEATH(pool().Unassign(place.segment), "not empty");
  const FillingSlot filling = *pool().Take(kSlot);
  EXPECT_DEATH(pool().Unassign(place.segment), "segment 0");
}

TEST_F(SlotPoolDeathTest, FreeingAHeldSlotIsABug) {
  const Place place = Fill(kSlot);
  Hold(place);
  pool().Evict(place);
  EXPECT_DEATH(pool().HoldsEnded(place), "held");
  LetGo(place);
}

TEST_F(SlotPoolDeathTest, FillingSlotThatOutlivesItsPoolIsABug) {
  EXPECT_DEATH(
      {
        NoHolds none;
        std::vector<std::atomic<std::uint64_t>> words(kFixtureSegmentBytes / 8);
        std::optional<FillingSlot> slot;
        SlotPool pool({.segment_bytes = kFixtureSegmentBytes}, none);
        pool.AddSegment(SegmentId(0), SlotWords(absl::MakeSpan(words)));
        slot = pool.Take(1);
      },
      "outlived");
}

}  // namespace
}  // namespace cairn
