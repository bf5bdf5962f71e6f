#include "libs/block/segment_layout.h"

#include <gtest/gtest.h>

#include "libs/base/limits.h"
#include "libs/base/rng.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

TEST(SegmentLayoutTest, OneGibibyteOf2MibSlots) {
  const SegmentLayout layout = LayOutSegment(kGiB, 2 * kMiB);
  EXPECT_EQ(layout.table_bytes, 2 * kMiB);
  EXPECT_EQ(layout.slots, 511u);
  EXPECT_EQ(layout.OffsetOf(SlotId(0)), 2 * kMiB);
  EXPECT_EQ(layout.OffsetOf(SlotId(3)), 8 * kMiB);
}

TEST(SegmentLayoutTest, SegmentTooSmallForOneSlotHasNone) {
  EXPECT_EQ(LayOutSegment(2 * kMiB, 2 * kMiB).slots, 0u);
  EXPECT_EQ(LayOutSegment(0, 4 * kKiB).slots, 0u);
  EXPECT_EQ(LayOutSegment(4 * kKiB, 4 * kKiB).slots, 0u);
  EXPECT_EQ(LayOutSegment(8 * kKiB, 4 * kKiB).slots, 1u);
}

TEST(SegmentLayoutTest, SlotsFitBehindTheTableAndOneMoreWouldNot) {
  Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t segment_bytes = rng.Between(1, 4096) * kPieceBytes;
    const std::uint64_t slot_bytes = rng.Between(1, 64) * kPieceBytes;
    const SegmentLayout layout = LayOutSegment(segment_bytes, slot_bytes);
    ASSERT_GE(layout.table_bytes, layout.slots * 8ull) << "every slot has a word";
    ASSERT_EQ(layout.table_bytes % kPieceBytes, 0u);
    ASSERT_LE(layout.OffsetOf(SlotId(layout.slots)), segment_bytes);
    ASSERT_GT(layout.OffsetOf(SlotId(layout.slots + 1)), segment_bytes);
  }
}

TEST(SegmentLayoutTest, TableDoesNotDependOnTheSlotSize) {
  for (std::uint64_t slot_bytes = kPieceBytes; slot_bytes <= kMiB; slot_bytes += kPieceBytes) {
    ASSERT_EQ(LayOutSegment(64 * kMiB, slot_bytes).table_bytes, TableBytesOf(64 * kMiB));
  }
}

TEST(SegmentLayoutTest, SlotsAreCapped) {
  EXPECT_EQ(LayOutSegment(limits::kSegmentBytesMax, kPieceBytes).slots,
            limits::kSlotsPerSegmentMax);
}

TEST(SegmentLayoutTest, SlotSizeIsTheNextMultipleOf4Kib) {
  EXPECT_EQ(SlotBytesFor(1), 4 * kKiB);
  EXPECT_EQ(SlotBytesFor(4 * kKiB), 4 * kKiB);
  EXPECT_EQ(SlotBytesFor(4 * kKiB + 1), 8 * kKiB);
}

}  // namespace
}  // namespace cairn
