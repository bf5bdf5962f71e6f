#include "libs/placement/line_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "libs/base/rng.h"
#include "tests/unit/placement/line_cases.h"

namespace cairn::placement {
namespace {

TEST(LineTableTest, DeeperClaimsCountAtTheEndOfAPrefix) {
  const LineProblem problem{.atoms = {{2, 2, 5}, {9, 9, 9}}, .held = {}};
  const auto table = LineTable::Create(problem, 1).value();
  const LinePlan plan = table->PlanAt(6, 6, 1).value();
  EXPECT_EQ(plan.cost, 10);  // the recurrence cut off at 6 would hold depth 2: 36
  EXPECT_EQ(plan.depths, (std::vector<std::uint32_t>{6}));
}

TEST(LineTableTest, EqualsSolvingTheCensoredLine) {
  Rng rng(8);
  for (int round = 0; round < 20000; ++round) {
    const LineProblem problem = RandomLine(rng, {});
    const std::uint32_t states_max = static_cast<std::uint32_t>(rng.Below(6));
    const auto table = LineTable::Create(problem, states_max).value();
    // A length anywhere: at an atom, at a held state, between, before and after everything.
    const std::uint32_t depth = static_cast<std::uint32_t>(rng.Below(30));
    std::int64_t cost = problem.base_cost;
    for (const LineAtom& atom : problem.atoms) {
      if (atom.depth <= depth) cost = std::max(cost, atom.cost);
    }
    for (const HeldState& held : problem.held) {
      if (held.depth <= depth) cost = std::max(cost, held.cost);
    }
    const std::uint32_t states = static_cast<std::uint32_t>(rng.Below(5));
    const LineProblem censored = CensorLine(problem, depth, cost).value();
    const LinePlan expected = SolveByTrying(censored, std::min(states, states_max));
    const auto plan = table->PlanAt(depth, cost, states);
    ASSERT_TRUE(plan.ok()) << plan.status() << problem << " length " << depth;
    ASSERT_EQ(plan->cost, expected.cost) << problem << " length " << depth;
    ASSERT_EQ(plan->saved, expected.saved) << problem << " length " << depth;
    ASSERT_EQ(plan->depths, expected.depths) << problem << " length " << depth;
  }
}

TEST(LineTableTest, RefusesACostThatContradictsItsNeighbours) {
  const LineProblem problem{.atoms = {{2, 2, 5}, {9, 9, 9}}, .held = {{5, 5}}};
  const auto table = LineTable::Create(problem, 1).value();
  EXPECT_FALSE(table->PlanAt(6, 4, 1).ok());
  EXPECT_FALSE(table->PlanAt(6, 10, 1).ok());
  EXPECT_FALSE(table->PlanAt(1, -1, 1).ok());
  EXPECT_FALSE(table->PlanAt(9, 8, 1).ok());
  EXPECT_TRUE(table->PlanAt(9, 9, 1).ok());
}

TEST(LineTableTest, RefusesABadProblem) {
  EXPECT_FALSE(LineTable::Create({.atoms = {{2, 2, -5}}, .held = {}}, 1).ok());
  EXPECT_FALSE(LineTable::Create(UniformLine(1 << 14), 1 << 13).ok());
}

}  // namespace
}  // namespace cairn::placement
