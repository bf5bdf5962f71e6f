#include "libs/placement/line_cells.h"

#include <gtest/gtest.h>

#include "libs/base/rng.h"
#include "tests/unit/placement/line_cases.h"

namespace cairn::placement {
namespace {

TEST(LineCellsTest, EveryCellIsTheOptimumOfTheLineUpToThere) {
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    // No held states: those below an atom would reach into the cut line.
    const LineProblem problem = RandomLine(rng, {.atoms_max = 20, .held_in = 0});
    const PreparedLine line = PrepareLine(problem).value();
    constexpr std::uint32_t kStates = 11;  // more than one group of rows
    const LineCells cells(line, kStates, true);
    for (std::size_t j = 0; j <= line.size(); ++j) {
      LineProblem cut{.atoms = {}, .held = {}, .base_cost = problem.base_cost};
      for (std::size_t i = 0; i < j; ++i) {
        cut.atoms.push_back({line.depths[i], line.costs[i] + problem.base_cost, line.weight(i)});
      }
      const std::vector<std::int64_t> costs = CostsByRecurrence(cut, kStates);
      for (std::uint32_t m = 0; m <= kStates; ++m) {
        ASSERT_EQ(cells.Saved(m, j), costs[0] - costs[m]) << problem << " m " << m << " j " << j;
        const std::vector<std::uint32_t> depths = cells.Depths(m, j);
        ASSERT_LE(depths.size(), m);
        ASSERT_EQ(LineCost(cut, depths).value(), costs[m]) << problem << " m " << m << " j " << j;
      }
    }
  }
}

TEST(LineCellsTest, WithoutKeepingThemTheLastColumnIsTheSame) {
  const PreparedLine line = PrepareLine(UniformLine(40)).value();
  const LineCells kept(line, 20, true);
  const LineCells cells(line, 20, false);
  for (std::uint32_t m = 0; m <= 20; ++m) EXPECT_EQ(cells.Saved(m), kept.Saved(m, 40));
}

}  // namespace
}  // namespace cairn::placement
