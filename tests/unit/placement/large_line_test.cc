#include "libs/placement/large_line.h"

#include <gtest/gtest.h>

#include "libs/base/rng.h"
#include "libs/placement/limits.h"
#include "libs/placement/line_solver.h"
#include "tests/unit/placement/line_cases.h"

namespace cairn::placement {
namespace {

void ExpectEqualToTheTable(const LineProblem& problem, std::uint32_t states) {
  const LinePlan exact = SolveLine(problem, states).value();
  ASSERT_EQ(LargeLineCost(problem, states).value(), exact.cost) << problem << " m " << states;
  const LinePlan plan = SolveLargeLine(problem, states).value();
  ASSERT_EQ(plan.cost, exact.cost) << problem << " m " << states;
  ASSERT_EQ(plan.saved, exact.saved) << problem << " m " << states;
  ASSERT_EQ(plan.depths.size(), exact.depths.size()) << problem << " m " << states;
  ASSERT_EQ(LineCost(problem, plan.depths).value(), exact.cost) << problem << " m " << states;
}

TEST(LargeLineTest, EqualsTheTableWhereGainsAreEqualAndCountsJump) {
  Rng rng(11);
  for (int round = 0; round < 10000; ++round) {
    const LineProblem problem = RandomLine(rng, {.atoms_max = 16, .weight_max = 2, .cost_step = 2});
    ExpectEqualToTheTable(problem, static_cast<std::uint32_t>(rng.Below(18)));
  }
}

TEST(LargeLineTest, EqualsTheTableOnUniformClaims) {
  for (std::uint32_t m = 0; m <= 70; ++m) ExpectEqualToTheTable(UniformLine(64), m);
}

TEST(LargeLineTest, EqualsTheTableInOneHundredAndTwentyEightBits) {
  Rng rng(12);
  for (int round = 0; round < 500; ++round) {
    LineProblem problem = RandomLine(rng, {.atoms_max = 12, .weight_max = 1 << 20});
    for (LineAtom& atom : problem.atoms) atom.weight <<= 30;
    problem.atoms.push_back({1000, limits::kCostMax, 3});
    ExpectEqualToTheTable(problem, static_cast<std::uint32_t>(rng.Below(6)));
  }
}

TEST(LargeLineTest, TakesMoreCellsThanTheTable) {
  const LineProblem problem = UniformLine(1 << 14);
  const std::uint32_t states = (1 << 13) - 1;
  const LinePlan plan = SolveLargeLine(problem, states).value();
  EXPECT_LE(plan.depths.size(), states);
  EXPECT_EQ(plan.cost, LargeLineCost(problem, states).value());
  // The balanced closed form: 2^13 stretches share 2^14 + 1 positions, so one has three.
  EXPECT_EQ(plan.cost, 3 + ((1 << 13) - 1));
}

TEST(LargeLineTest, RefusesABadProblem) {
  const LineProblem problem{.atoms = {{2, 2, -5}}, .held = {}};
  EXPECT_FALSE(LargeLineCost(problem, 1).ok());
  EXPECT_FALSE(SolveLargeLine(problem, 1).ok());
}

}  // namespace
}  // namespace cairn::placement
