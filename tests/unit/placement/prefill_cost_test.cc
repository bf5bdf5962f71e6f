#include "libs/placement/prefill_cost.h"

#include <gtest/gtest.h>

#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

TEST(PrefillCostTest, CountsTokensByDefault) {
  EXPECT_EQ(PrefillCost().At(0), 0);
  EXPECT_EQ(PrefillCost().At(7777), 7777);
}

TEST(PrefillCostTest, AddsALinearAndAQuadraticPart) {
  const PrefillCost cost = PrefillCost::Create(20'000, 500, 1 << 20).value();
  EXPECT_EQ(cost.At(0), 0);
  EXPECT_EQ(cost.At(1000), 20'000'000 + 500 * 1'000'000 / 2000);
}

TEST(PrefillCostTest, RefusesNegativePartsAndCostsBeyondTheLimit) {
  EXPECT_FALSE(PrefillCost::Create(-1, 0, 10).ok());
  EXPECT_FALSE(PrefillCost::Create(0, -1, 10).ok());
  EXPECT_FALSE(PrefillCost::Create(limits::kCostMax, 0, 2).ok());
  EXPECT_FALSE(PrefillCost::Create(0, limits::kCostMax, 1 << 24).ok());
  EXPECT_TRUE(PrefillCost::Create(limits::kCostMax, 0, 1).ok());
}

}  // namespace
}  // namespace cairn::placement
