#include "libs/placement/saved_counts.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

namespace cairn::placement {
namespace {

std::string BytesOf(double count) {
  ByteWriter out;
  PutCount(out, count);
  return std::move(out).Take();
}

TEST(SavedCountsTest, ACountReadsBackBitForBit) {
  for (const double count : {0.0, 1.0, 1.0 / 3, 1e-300, kSavedCountMax}) {
    const std::string bytes = BytesOf(count);
    ByteReader in(bytes);
    EXPECT_EQ(GetSavedCount(in), count);
    EXPECT_TRUE(in.at_end());
  }
}

TEST(SavedCountsTest, WhatIsNoCountIsRefused) {
  using Limits = std::numeric_limits<double>;
  for (const double bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), -1.0,
                           Limits::max(), 2 * kSavedCountMax}) {
    const std::string bytes = BytesOf(bad);
    ByteReader in(bytes);
    EXPECT_EQ(GetSavedCount(in), 0);
    EXPECT_FALSE(in.ok()) << bad;
  }
  ByteReader short_one("1234567");
  EXPECT_EQ(GetSavedCount(short_one), 0);
  EXPECT_FALSE(short_one.ok());
}

}  // namespace
}  // namespace cairn::placement
