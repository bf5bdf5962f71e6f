#include "libs/base/place_table.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(PlaceTableTest, ValuesAreDefaultMadeAndKeptApart) {
  PlaceTable<int> table;
  EXPECT_EQ(table.At(Place{SegmentId(3), SlotId(5)}), 0);
  table.At(Place{SegmentId(3), SlotId(5)}) = 7;
  table.At(Place{SegmentId(5), SlotId(3)}) = 9;
  table.At(Place{SegmentId(3), SlotId(1000)}) = 11;  // grows; the others stay
  EXPECT_EQ(*table.Find(Place{SegmentId(3), SlotId(5)}), 7);
  EXPECT_EQ(*table.Find(Place{SegmentId(5), SlotId(3)}), 9);
  EXPECT_EQ(*table.Find(Place{SegmentId(3), SlotId(4)}), 0);
}

TEST(PlaceTableTest, FindMakesNothing) {
  PlaceTable<int> table;
  EXPECT_EQ(table.Find(Place{SegmentId(0), SlotId(0)}), nullptr);
  table.At(Place{SegmentId(1), SlotId(0)}) = 1;
  EXPECT_EQ(table.Find(Place{SegmentId(0), SlotId(0)}), nullptr);
  EXPECT_EQ(table.Find(Place{SegmentId(2), SlotId(0)}), nullptr);
}

TEST(PlaceTableDeathTest, PlaceBeyondTheLimitsIsABug) {
  PlaceTable<int> table;
  EXPECT_DEATH(table.At(Place{SegmentId(limits::kArenaSegmentsMax), SlotId(0)}), "kArenaSegments");
  EXPECT_DEATH(table.At(Place{SegmentId(0), SlotId(limits::kSlotsPerSegmentMax)}), "kSlotsPer");
}

}  // namespace
}  // namespace cairn
