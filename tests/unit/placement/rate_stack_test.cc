#include "libs/placement/rate_stack.h"

#include <gtest/gtest.h>

#include <vector>

#include "libs/base/rng.h"

namespace cairn::placement {
namespace {

RateTable RandomTable(Rng& rng) {
  RateTable table(rng.Chance(1, 2) ? 1 : 0.98);
  const std::uint64_t reach = rng.Chance(1, 2) ? 10 : 3000;
  for (int i = 0; i < 40; ++i) {
    table.Expose(static_cast<std::uint32_t>(1 + rng.Below(reach)));
    if (rng.Chance(1, 2)) table.Claim(static_cast<std::uint32_t>(rng.Below(reach)));
  }
  return table;
}

TEST(RateStackTest, WithoutTablesTheRateIsThePrior) {
  RateStack stack;
  EXPECT_EQ(stack.Rate(0, 0.25), 0.25);
  EXPECT_EQ(stack.Rate(1'000'000, 0.5), 0.5);
}

TEST(RateStackTest, SaysBitForBitWhatNestedTablesSay) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<RateTable> tables;
    for (std::uint64_t i = rng.Below(RateStack::kLevelsMax + 1); i > 0; --i) {
      tables.push_back(RandomTable(rng));
    }
    RateStack stack;
    for (const RateTable& table : tables) stack.Add(table, 7);
    std::uint32_t distance = 0;
    for (int i = 0; i < 300; ++i) {
      // Mostly the next one, either way, as plans ask; sometimes anywhere.
      distance = rng.Chance(1, 10) ? static_cast<std::uint32_t>(rng.Below(4000))
                                   : distance + (rng.Chance(1, 2) || distance == 0 ? 1 : -1u);
      const double prior = 1.0 / static_cast<double>(1 + rng.Below(1000));
      double expected = prior;
      for (const RateTable& table : tables) expected = table.Rate(distance, expected, 7);
      ASSERT_EQ(stack.Rate(distance, prior), expected) << "round " << round << ", " << distance;
    }
  }
}

TEST(RateStackTest, TheLargestDistanceHasABinToo) {
  RateTable table;
  table.Expose(3);
  RateStack stack;
  stack.Add(table, 1);
  EXPECT_EQ(stack.Rate(UINT32_MAX - 1, 0.5), table.Rate(UINT32_MAX - 1, 0.5, 1));
}

TEST(RateStackDeathTest, OneTableTooManyIsABug) {
  RateTable table;
  RateStack stack;
  for (std::size_t i = 0; i < RateStack::kLevelsMax; ++i) stack.Add(table, 1);
  EXPECT_DEATH(stack.Add(table, 1), "kLevelsMax");
}

}  // namespace
}  // namespace cairn::placement
