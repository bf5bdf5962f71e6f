#include "libs/placement/rate_table.h"

#include <gtest/gtest.h>

namespace cairn::placement {
namespace {

TEST(RateTableTest, BinsCoverEveryDistanceOnce) {
  EXPECT_EQ(DistanceBin(0), 0u);
  EXPECT_EQ(DistanceBin(7), 7u);
  std::uint32_t bin = 0;
  for (std::uint32_t distance = 0; distance < 100000; ++distance) {
    const std::uint32_t next = DistanceBin(distance);
    ASSERT_TRUE(next == bin || next == bin + 1) << distance;
    if (next != bin) {
      ASSERT_EQ(DistanceBinStart(next), distance);
    }
    bin = next;
  }
  EXPECT_LT(DistanceBin(4294967295u), 100u);
}

TEST(RateTableTest, WithoutObservationsARateIsThePrior) {
  EXPECT_DOUBLE_EQ(RateTable().Rate(3, 0.25, 10), 0.25);
}

TEST(RateTableTest, RateIsClaimsOverExposures) {
  RateTable table;
  for (int i = 0; i < 1000; ++i) table.Expose(4);
  for (int i = 0; i < 300; ++i) table.Claim(0);
  EXPECT_NEAR(table.Rate(0, 0.9, 1e-9), 0.3, 1e-6);
  EXPECT_NEAR(table.Rate(3, 0.9, 1e-9), 0, 1e-6);
  EXPECT_NEAR(table.Rate(0, 0.9, 1000), 0.6, 1e-9);
  EXPECT_DOUBLE_EQ(table.Rate(5, 0.9, 10), 0.9);  // no entry was that long
  EXPECT_DOUBLE_EQ(table.Claims(), 300);
  EXPECT_DOUBLE_EQ(table.Exposures(), 1000);
}

TEST(RateTableTest, PositionsOfOneBinShareItsClaims) {
  RateTable table;
  const std::uint32_t bin = DistanceBin(100);
  const std::uint32_t width = DistanceBinStart(bin + 1) - DistanceBinStart(bin);
  ASSERT_GT(width, 1u);
  for (int i = 0; i < 100; ++i) table.Expose(1000);
  for (int i = 0; i < 100; ++i) table.Claim(100);
  EXPECT_NEAR(table.Rate(DistanceBinStart(bin), 0, 1e-9), 1.0 / width, 1e-6);
}

TEST(RateTableTest, FadesClaimsAndExposuresAlikeAsClaimsCome) {
  RateTable table(0.99);
  for (int i = 0; i < 100000; ++i) {  // far beyond what a double holds without rescaling
    table.Expose(1);
    table.Expose(1);
    table.Claim(0);
  }
  EXPECT_NEAR(table.Claims(), 100, 1e-6);
  EXPECT_NEAR(table.EffectiveClaims(), 1.99 / 0.01, 1e-3);
  EXPECT_NEAR(table.Rate(0, 0, 1e-9), 0.5, 0.01);
  const RateTable settled = table.WithDecay(1);
  EXPECT_NEAR(settled.Claims(), 100, 1e-6);
  EXPECT_NEAR(settled.EffectiveClaims(), table.EffectiveClaims(), 1e-6);
}

TEST(RateTableTest, LargestGapIsOfTheSummedDistributions) {
  RateTable a;
  RateTable b;
  EXPECT_DOUBLE_EQ(a.LargestGap(b), 0);
  for (int i = 0; i < 10; ++i) a.Claim(static_cast<std::uint32_t>(i % 2));
  for (int i = 0; i < 4; ++i) b.Claim(i == 0 ? 0 : 5);
  EXPECT_NEAR(a.LargestGap(b), 0.75, 1e-12);
  EXPECT_NEAR(b.LargestGap(a), 0.75, 1e-12);
}

TEST(RateTableTest, SavedCountsReadBackAsTheyWere) {
  RateTable table(0.9);
  for (std::uint32_t i = 0; i < 300; ++i) {
    table.Expose(10 + i);
    table.Claim(i % 7);
  }
  ByteWriter out;
  table.Save(out);
  const std::string bytes = std::move(out).Take();
  RateTable read(0.9);
  ByteReader in(bytes);
  read.Load(in);
  ASSERT_TRUE(in.at_end());
  EXPECT_NEAR(read.Claims(), table.Claims(), 1e-9);
  EXPECT_NEAR(read.Exposures(), table.Exposures(), 1e-9);
  EXPECT_NEAR(read.EffectiveClaims(), table.EffectiveClaims(), 1e-6);
  read.Claim(2);
  table.Claim(2);
  for (std::uint32_t d = 0; d < 400; d += 13) {
    EXPECT_NEAR(read.Rate(d, 0.1, 3), table.Rate(d, 0.1, 3), 1e-9);
  }
}

TEST(RateTableTest, WhatSaveDidNotWriteIsRefused) {
  RateTable table;
  table.Expose(20);
  table.Claim(3);
  ByteWriter out;
  table.Save(out);
  const std::string bytes = std::move(out).Take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    RateTable read;
    ByteReader in(absl::string_view(bytes).substr(0, size));
    read.Load(in);
    EXPECT_FALSE(in.ok()) << size;
  }
  for (const std::size_t at : {std::size_t{0}, std::size_t{3}, std::size_t{11}}) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(0xFF);  // far too many bins; a count that is no number
    RateTable read;
    ByteReader in(bad);
    read.Load(in);
    EXPECT_FALSE(in.at_end()) << at;
  }
}

}  // namespace
}  // namespace cairn::placement
