#include "libs/placement/baselines.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "libs/placement/line_problem.h"
#include "libs/placement/line_solver.h"
#include "tests/unit/placement/line_cases.h"

namespace cairn::placement {
namespace {

using Depths = std::vector<std::uint32_t>;

TEST(BaselinesTest, BalancedIsOptimalForUniformClaims) {
  for (std::uint32_t n = 0; n <= 40; ++n) {
    for (std::uint32_t m = 0; m <= n + 3; ++m) {
      const LineProblem line = UniformLine(n);
      EXPECT_EQ(LineCost(line, BalancedPlan(n, m)).value(), SolveLine(line, m)->cost)
          << "n " << n << " m " << m;
    }
  }
}

TEST(BaselinesTest, FixedRulesGiveTheirDepths) {
  EXPECT_EQ(BlockPlan(20, 8), (Depths{8, 16}));
  EXPECT_EQ(BlockPlan(20, 0), Depths{});
  EXPECT_EQ(SqrtPlan(17), (Depths{4, 8, 12, 16}));
  EXPECT_EQ(SqrtPlan(0), Depths{});
  EXPECT_EQ(DyadicPlan(17), (Depths{1, 2, 4, 8, 16}));
}

PlanQuery QueryOf(std::uint32_t end, std::uint32_t resume, std::uint32_t shared,
                  std::uint32_t states_max) {
  return {.shape = {.end = end, .resume = resume, .shared = shared},
          .branches = {},
          .held = {},
          .states_max = states_max};
}

TEST(BaselinesTest, BranchAtomJoinsOrReplacesTheNearest) {
  EXPECT_EQ(WithBranchAtom({3, 9}, QueryOf(20, 0, 5, 3)), (Depths{3, 5, 9}));
  EXPECT_EQ(WithBranchAtom({3, 9}, QueryOf(20, 0, 5, 2)), (Depths{5, 9}));
  EXPECT_EQ(WithBranchAtom({3, 7}, QueryOf(20, 0, 5, 2)), (Depths{5, 7}));  // a tie
  EXPECT_EQ(WithBranchAtom({3, 5}, QueryOf(20, 0, 5, 2)), (Depths{3, 5}));
}

TEST(BaselinesTest, NoBranchAtomWhereNothingPartedOrAStateStands) {
  EXPECT_EQ(WithBranchAtom({9}, QueryOf(20, 0, 0, 1)), (Depths{9}));
  EXPECT_EQ(WithBranchAtom({9}, QueryOf(20, 5, 5, 1)), (Depths{9}));
  EXPECT_EQ(WithBranchAtom({4}, QueryOf(4, 0, 5, 1)), (Depths{4}));  // below the last full block
  EXPECT_EQ(WithBranchAtom({}, QueryOf(20, 0, 5, 0)), Depths{});
}

TEST(BaselinesTest, EveryNamedRuleKeepsWithinTheEntry) {
  std::set<std::string> names;
  for (const NamedRule& rule : BaselineRules()) {
    names.insert(std::string(rule.name));
    const BaselineExpert expert(rule.name, rule.rule);
    for (const std::uint32_t end : {0u, 1u, 2u, 37u}) {
      for (const std::uint32_t depth : expert.Plan(QueryOf(end, 0, end / 2, 3))) {
        EXPECT_GE(depth, 1u) << rule.name;
        EXPECT_LE(depth, end) << rule.name;
      }
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"none", "balanced", "block8", "sqrt", "dyadic", "last",
                                          "dense", "marconi"}));
}

}  // namespace
}  // namespace cairn::placement
