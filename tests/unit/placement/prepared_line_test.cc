#include "libs/placement/prepared_line.h"

#include <gtest/gtest.h>

#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

TEST(PreparedLineTest, DropsAtomsWithoutWeightAndCountsCostsFromTheBase) {
  const LineProblem problem{
      .atoms = {{2, 12, 5}, {4, 14, 0}, {9, 19, 9}}, .held = {}, .base_cost = 10};
  const PreparedLine line = PrepareLine(problem).value();
  EXPECT_EQ(line.depths, (std::vector<std::uint32_t>{2, 9}));
  EXPECT_EQ(line.costs, (std::vector<std::int64_t>{2, 9}));
  EXPECT_EQ(line.before, (std::vector<std::int64_t>{0, 5, 14}));
  EXPECT_EQ(line.total, 5 * 2 + 9 * 9);
  EXPECT_EQ(line.weight(1), 9);
}

TEST(PreparedLineTest, OfHeldStatesBetweenTwoAtomsTheDeepestCounts) {
  const LineProblem problem{.atoms = {{2, 2, 1}, {9, 9, 1}, {12, 12, 1}},
                            .held = {{1, 1}, {3, 3}, {5, 5}, {20, 20}},
                            .base_cost = 0};
  const PreparedLine line = PrepareLine(problem).value();
  ASSERT_EQ(line.starts.size(), 2u);
  EXPECT_EQ(line.StartOf(0).cost, 1);
  EXPECT_EQ(line.StartOf(1).cost, 5);
  EXPECT_EQ(line.StartOf(2).cost, 5);
  EXPECT_EQ(line.SavedByHeld(), (std::vector<std::int64_t>{0, 1, 6, 11}));
}

TEST(PreparedLineTest, IsNarrowWhileProductsFit64Bits) {
  LineProblem problem{.atoms = {{1, 1, limits::kNarrowMax / 4}, {2, 4, 0}}, .held = {}};
  EXPECT_TRUE(PrepareLine(problem).value().is_narrow);
  problem.atoms[1].weight = 1;  // now the whole weight may be multiplied by 4
  EXPECT_FALSE(PrepareLine(problem).value().is_narrow);
}

TEST(PreparedLineTest, RefusesABadProblem) {
  EXPECT_FALSE(PrepareLine({.atoms = {{2, 2, -1}}, .held = {}}).ok());
}

}  // namespace
}  // namespace cairn::placement
