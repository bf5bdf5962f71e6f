#include "libs/base/rng.h"

#include <gtest/gtest.h>

#include <array>

namespace cairn {
namespace {

TEST(RngTest, SameSeedGivesSameNumbersOnEveryMachine) {
  Rng rng(0);  // published first outputs of splitmix64 with seed 0
  EXPECT_EQ(rng.Next(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(rng.Next(), 0x6e789e6aa1b965f4u);
}

TEST(RngTest, BelowStaysBelowAndReachesEveryValue) {
  Rng rng(3);
  std::array<int, 5> seen{};
  for (int i = 0; i < 1000; ++i) seen.at(rng.Below(5))++;
  for (const int count : seen) EXPECT_GT(count, 100);
}

TEST(RngTest, UnitIsInHalfOpenInterval) {
  Rng rng(4);
  for (int i = 0; i < 1000; ++i) {
    const double u = rng.Unit();
    EXPECT_GE(u, 0.0);
    EXPECT_LT(u, 1.0);
  }
}

}  // namespace
}  // namespace cairn
