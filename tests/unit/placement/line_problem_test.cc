#include "libs/placement/line_problem.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

struct BadLine {
  std::string name;
  LineProblem problem;
  std::string message;
};

class BadLineTest : public testing::TestWithParam<BadLine> {};

TEST_P(BadLineTest, IsRefusedAndNamed) {
  const absl::Status status = ValidateLine(GetParam().problem);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find(GetParam().message), std::string::npos)
      << status.message();
}

LineProblem Of(std::vector<LineAtom> atoms, std::vector<HeldState> held = {},
               std::int64_t base_cost = 0) {
  return {.atoms = std::move(atoms), .held = std::move(held), .base_cost = base_cost};
}

INSTANTIATE_TEST_SUITE_P(
    LineProblem, BadLineTest,
    testing::Values(
        BadLine{"DepthTwice", Of({{3, 3, 1}, {3, 3, 1}}), "depth 3 does not lie below depth 3"},
        BadLine{"DepthFalls", Of({{3, 3, 1}, {2, 3, 1}}), "atom 1: depth 2"},
        BadLine{"CostFalls", Of({{3, 3, 1}, {4, 2, 1}}), "cost 2 is less than 3"},
        BadLine{"CostUnderBase", Of({{3, 3, 1}}, {}, 4), "cost 3 is not in 4.."},
        BadLine{"CostTooLarge", Of({{3, limits::kCostMax + 1, 1}}), "atom 0 at depth 3"},
        BadLine{"BaseNegative", Of({}, {}, -1), "base cost -1"},
        BadLine{"WeightNegative", Of({{3, 3, -1}}), "weight -1 is negative"},
        BadLine{"TotalTooLarge",
                Of({{3, limits::kCostMax, std::int64_t{1} << 21}, {4, limits::kCostMax, 1}}),
                "over 2^61"},
        BadLine{"WeightsTooLarge", Of({{3, 0, limits::kTotalCostMax}, {4, 0, 1}}), "over 2^61"},
        BadLine{"HeldDepthFalls", Of({{9, 9, 1}}, {{5, 5}, {4, 5}}), "held state 1: depth 4"},
        BadLine{"HeldBelowAtomCost", Of({{3, 3, 1}}, {{4, 2}}), "held state at depth 4"},
        BadLine{"HeldOverAtomCost", Of({{3, 3, 1}}, {{2, 4}}), "held state at depth 2"},
        BadLine{"HeldDiffersFromAtom", Of({{3, 3, 1}}, {{3, 2}}), "held state at depth 3"}),
    [](const testing::TestParamInfo<BadLine>& param) { return param.param.name; });

TEST(LineProblemTest, LimitsThemselvesAreLegal) {
  EXPECT_TRUE(ValidateLine(Of({{3, limits::kCostMax, std::int64_t{1} << 21}})).ok());
  EXPECT_TRUE(ValidateLine(Of({})).ok());
}

TEST(LineProblemTest, CostCountsFromTheDeepestStateAtOrAboveAnAtom) {
  const LineProblem problem = Of({{2, 2, 5}, {4, 4, 1}, {9, 9, 9}}, {{3, 3}});
  EXPECT_EQ(LineCost(problem, {}).value(), 5 * 2 + 1 * 1 + 9 * 6);
  EXPECT_EQ(LineCost(problem, {9}).value(), 5 * 2 + 1 * 1);
  EXPECT_EQ(LineCost(problem, {4, 2}).value(), 9 * 5);  // in any order
  EXPECT_EQ(LineCost(problem, {3}).value(), 5 * 2 + 1 * 1 + 9 * 6);
  EXPECT_EQ(LineCost(problem, {5}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(LineProblemTest, CensoringMovesDeeperClaimsToTheEnd) {
  const LineProblem problem = Of({{2, 2, 5}, {9, 9, 9}, {12, 12, 1}}, {{1, 1}, {8, 8}});
  const LineProblem censored = CensorLine(problem, 6, 6).value();
  ASSERT_EQ(censored.atoms.size(), 2u);
  EXPECT_EQ(censored.atoms[0].weight, 5);
  EXPECT_EQ(censored.atoms[1].depth, 6u);
  EXPECT_EQ(censored.atoms[1].weight, 10);
  ASSERT_EQ(censored.held.size(), 1u);
  EXPECT_EQ(censored.held[0].depth, 1u);
  EXPECT_EQ(CensorLine(problem, 6, 1).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cairn::placement
