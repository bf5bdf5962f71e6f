#include "libs/client/verified_set.h"

#include "gtest/gtest.h"

namespace cairn {
namespace {

Place At(std::uint32_t slot) { return Place{SegmentId(0), SlotId(slot)}; }

TEST(VerifiedSetTest, KnowsSlotGenerationAndChecksum) {
  VerifiedSet set(4);
  set.BeginArena({1, 1});
  EXPECT_FALSE(set.Contains(At(0), Generation(1), Checksum(7)));
  set.Insert(At(0), Generation(1), Checksum(7));
  EXPECT_TRUE(set.Contains(At(0), Generation(1), Checksum(7)));
  EXPECT_FALSE(set.Contains(At(1), Generation(1), Checksum(7)));
  EXPECT_FALSE(set.Contains(At(0), Generation(2), Checksum(7)));
  EXPECT_FALSE(set.Contains(At(0), Generation(1), Checksum(8)));
  EXPECT_FALSE(set.Contains(Place{SegmentId(1), SlotId(0)}, Generation(1), Checksum(7)));
}

TEST(VerifiedSetTest, ANewGenerationReplacesTheOld) {
  VerifiedSet set(4);
  set.Insert(At(0), Generation(1), Checksum(7));
  set.Insert(At(0), Generation(2), Checksum(8));
  EXPECT_FALSE(set.Contains(At(0), Generation(1), Checksum(7)));
  EXPECT_TRUE(set.Contains(At(0), Generation(2), Checksum(8)));
  EXPECT_EQ(set.size(), 1u);
}

TEST(VerifiedSetTest, TheFirstRememberedIsForgottenFirst) {
  VerifiedSet set(2);
  EXPECT_EQ(set.Insert(At(0), Generation(1), Checksum(7)), 0u);
  EXPECT_EQ(set.Insert(At(1), Generation(1), Checksum(7)), 0u);
  EXPECT_EQ(set.Insert(At(0), Generation(2), Checksum(7)), 0u) << "in place";
  EXPECT_EQ(set.Insert(At(2), Generation(1), Checksum(7)), 1u);
  EXPECT_EQ(set.size(), 2u);
  EXPECT_FALSE(set.Contains(At(0), Generation(2), Checksum(7)));
  EXPECT_TRUE(set.Contains(At(1), Generation(1), Checksum(7)));
}

TEST(VerifiedSetTest, AnotherArenaForgetsAll) {
  VerifiedSet set(2);
  set.BeginArena({1, 1});
  set.Insert(At(0), Generation(1), Checksum(7));
  set.BeginArena({1, 1});
  EXPECT_TRUE(set.Contains(At(0), Generation(1), Checksum(7)));
  set.BeginArena({1, 2});
  EXPECT_FALSE(set.Contains(At(0), Generation(1), Checksum(7)));
  EXPECT_EQ(set.size(), 0u);
}

}  // namespace
}  // namespace cairn
