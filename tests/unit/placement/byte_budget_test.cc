#include "libs/placement/byte_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "libs/base/rng.h"
#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

std::vector<BudgetCurve> RandomCurves(Rng& rng) {
  std::vector<BudgetCurve> families(1 + rng.Below(4));
  for (BudgetCurve& curve : families) {
    const auto bytes = static_cast<std::int64_t>(1 + rng.Below(9));
    std::vector<std::int64_t> gains(rng.Below(5));
    for (std::int64_t& gain : gains) gain = static_cast<std::int64_t>(rng.Below(20));
    std::sort(gains.begin(), gains.end(), std::greater<>());
    for (const std::int64_t gain : gains) curve.push_back({.gain = gain, .bytes = bytes});
  }
  return families;
}

std::int64_t BestByTrying(const std::vector<BudgetCurve>& families, std::size_t family,
                          std::int64_t bytes) {
  if (family == families.size()) return 0;
  std::int64_t best = 0;
  std::int64_t gain = 0;
  std::int64_t price = 0;
  for (std::size_t taken = 0; price <= bytes; ++taken) {
    best = std::max(best, gain + BestByTrying(families, family + 1, bytes - price));
    if (taken == families[family].size()) break;
    gain += families[family][taken].gain;
    price += families[family][taken].bytes;
  }
  return best;
}

TEST(ByteBudgetTest, IsWithinOneStepOfTheOptimum) {
  Rng rng(90);
  for (int round = 0; round < 5000; ++round) {
    const std::vector<BudgetCurve> families = RandomCurves(rng);
    const auto budget = static_cast<std::int64_t>(rng.Below(60));
    const BudgetPlan plan = SpendBytes(families, budget).value();
    ASSERT_LE(plan.bytes, budget);
    std::int64_t largest = 0;
    std::int64_t gain = 0;
    std::int64_t bytes = 0;
    for (std::size_t f = 0; f < families.size(); ++f) {
      for (std::size_t i = 0; i < families[f].size(); ++i) {
        largest = std::max(largest, families[f][i].gain);
        if (i >= plan.states[f]) continue;
        gain += families[f][i].gain;
        bytes += families[f][i].bytes;
      }
    }
    ASSERT_EQ(gain, plan.gain);
    ASSERT_EQ(bytes, plan.bytes);
    const std::int64_t best = BestByTrying(families, 0, budget);
    ASSERT_LE(plan.gain, best);
    ASSERT_GE(plan.gain, best - largest);
  }
}

TEST(ByteBudgetTest, WithEqualPricesItIsTheOptimum) {
  Rng rng(91);
  for (int round = 0; round < 2000; ++round) {
    std::vector<BudgetCurve> families = RandomCurves(rng);
    for (BudgetCurve& curve : families) {
      for (BudgetStep& step : curve) step.bytes = 5;
    }
    const auto budget = static_cast<std::int64_t>(rng.Below(60));
    ASSERT_EQ(SpendBytes(families, budget)->gain, BestByTrying(families, 0, budget));
  }
}

TEST(ByteBudgetTest, TiesGoToTheLowerFamilyAndNothingIsBoughtForNothing) {
  const std::vector<BudgetCurve> families = {{{0, 1}}, {{4, 2}, {4, 2}}, {{4, 2}}};
  EXPECT_EQ(SpendBytes(families, 4)->states, (std::vector<std::uint32_t>{0, 2, 0}));
  EXPECT_EQ(SpendBytes(families, 100)->states, (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_TRUE(SpendBytes({}, 5)->states.empty());
}

TEST(ByteBudgetTest, RefusesValuesOutOfBoundsAndCurvesThatRise) {
  EXPECT_FALSE(SpendBytes({{{-1, 1}}}, 5).ok());
  EXPECT_FALSE(SpendBytes({{{1, 0}}}, 5).ok());
  EXPECT_FALSE(SpendBytes({{{1, limits::kBudgetBytesMax + 1}}}, 5).ok());
  EXPECT_FALSE(SpendBytes({{{1, 1}, {2, 1}}}, 5).ok());
  EXPECT_FALSE(SpendBytes({{{limits::kTotalCostMax, 1}}, {{1, 1}}}, 5).ok());
  EXPECT_FALSE(SpendBytes({}, -1).ok());
}

}  // namespace
}  // namespace cairn::placement
