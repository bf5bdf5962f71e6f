#include "libs/placement/line_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "libs/base/rng.h"
#include "libs/placement/limits.h"
#include "tests/unit/placement/line_cases.h"

namespace cairn::placement {
namespace {

TEST(LineSolverTest, EqualsTryingEverySetOfDepths) {
  Rng rng(4);
  for (int round = 0; round < 20000; ++round) {
    const LineProblem problem = RandomLine(rng, {});
    const std::uint32_t states = static_cast<std::uint32_t>(rng.Below(6));
    const LinePlan expected = SolveByTrying(problem, states);
    const LinePlan plan = SolveLine(problem, states).value();
    ASSERT_EQ(plan.cost, expected.cost) << problem << ", states " << states;
    ASSERT_EQ(plan.saved, expected.saved) << problem << ", states " << states;
    ASSERT_EQ(plan.depths, expected.depths) << problem << ", states " << states;
  }
}

TEST(LineSolverTest, EqualsTheRecurrenceAndDivideAndConquer) {
  Rng rng(5);
  for (int round = 0; round < 10000; ++round) {
    const LineProblem problem =
        RandomLine(rng, {.atoms_max = 30,
                         .weight_max = rng.Chance(1, 2) ? 3 : 1'000'000,
                         .cost_step = rng.Chance(1, 2) ? 2 : 1'000'000,
                         .held_in = static_cast<std::uint32_t>(rng.Below(10))});
    constexpr std::uint32_t kStates = 12;
    const std::vector<std::int64_t> costs = CostsByRecurrence(problem, kStates);
    ASSERT_EQ(CostsByDivision(problem, kStates), costs) << problem;
    for (std::uint32_t m = 0; m <= kStates; ++m) {
      const LinePlan plan = SolveLine(problem, m).value();
      ASSERT_EQ(plan.cost, costs[m]) << problem << ", states " << m;
      ASSERT_LE(plan.depths.size(), m);
      ASSERT_EQ(LineCost(problem, plan.depths).value(), plan.cost) << problem << ", states " << m;
    }
  }
}

TEST(LineSolverTest, IsExactWhereProductsNeed128Bits) {
  Rng rng(6);
  for (int round = 0; round < 3000; ++round) {
    // Many light claims far down and heavy ones near the start: sums fit, products do not.
    LineProblem problem = RandomLine(rng, {.atoms_max = 8, .weight_max = 1 << 20});
    for (LineAtom& atom : problem.atoms) atom.weight <<= 30;
    const std::uint32_t deep = 1000;
    std::int64_t cost = limits::kCostMax - 8;
    for (std::uint32_t i = 0; i < 4; ++i, cost += static_cast<std::int64_t>(rng.Below(3))) {
      problem.atoms.push_back({deep + i, cost, static_cast<std::int64_t>(rng.Below(1 << 18))});
    }
    const LinePlan expected = SolveByTrying(problem, 3);
    const LinePlan plan = SolveLine(problem, 3).value();
    ASSERT_EQ(plan.cost, expected.cost) << problem;
    ASSERT_EQ(plan.depths, expected.depths) << problem;
  }
}

TEST(LineSolverTest, UniformClaimsHaveTheBalancedClosedForm) {
  for (std::int64_t n = 1; n <= 60; ++n) {
    for (std::int64_t m = 0; m <= n + 2; ++m) {
      const std::int64_t stretches = m + 1;
      const std::int64_t q = (n + 1) / stretches;
      const std::int64_t r = (n + 1) % stretches;
      const std::int64_t closed = r * (q + 1) * q / 2 + (stretches - r) * q * (q - 1) / 2;
      EXPECT_EQ(SolveLine(UniformLine(static_cast<std::uint32_t>(n)), static_cast<std::uint32_t>(m))
                    ->cost,
                closed)
          << "n " << n << " m " << m;
    }
  }
}

TEST(LineSolverTest, CostIsConvexInTheNumberOfStates) {
  Rng rng(7);
  for (int round = 0; round < 2000; ++round) {
    const LineProblem problem = RandomLine(rng, {.atoms_max = 25, .weight_max = 50});
    std::int64_t gain = limits::kTotalCostMax;
    std::int64_t cost = SolveLine(problem, 0)->cost;
    for (std::uint32_t m = 1; m <= 25; ++m) {
      const std::int64_t next = SolveLine(problem, m)->cost;
      ASSERT_LE(cost - next, gain) << problem << ", states " << m;
      gain = cost - next;
      cost = next;
    }
  }
}

TEST(LineSolverTest, WithAPriceItMaximisesSavingsLessPriceTimesStates) {
  Rng rng(13);
  for (int round = 0; round < 2000; ++round) {
    const LineProblem problem = RandomLine(rng, {});
    const std::vector<std::int64_t> costs = CostsByRecurrence(problem, 6);
    const auto price = static_cast<std::int64_t>(rng.Below(6));
    std::int64_t best = costs[0];
    for (std::int64_t m = 1; m <= 6; ++m) {
      best = std::min(best, costs[static_cast<std::size_t>(m)] + price * m);
    }
    const LinePlan plan = SolveLine(problem, 6, price).value();
    ASSERT_EQ(plan.cost + price * static_cast<std::int64_t>(plan.depths.size()), best) << problem;
  }
  EXPECT_FALSE(SolveLine({}, 1, -1).ok());
}

TEST(LineSolverTest, NoClaimsNeedNoStates) {
  EXPECT_TRUE(SolveLine({}, 5)->depths.empty());
  EXPECT_TRUE(SolveLine({.atoms = {{4, 4, 0}}, .held = {}}, 5)->depths.empty());
}

TEST(LineSolverTest, RefusesABadProblemAndTooManyCells) {
  EXPECT_EQ(SolveLine({.atoms = {{4, 4, -1}}, .held = {}}, 1).status().code(),
            absl::StatusCode::kInvalidArgument);
  const absl::Status status = SolveLine(UniformLine(1 << 14), 1 << 13).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("SolveLargeLine"), std::string::npos);
}

}  // namespace
}  // namespace cairn::placement
