#include "libs/placement/priced_line.h"

#include <gtest/gtest.h>

#include "libs/base/rng.h"
#include "tests/unit/placement/line_cases.h"

namespace cairn::placement {
namespace {

template <class Int>
void CompareWithAllCounts(std::uint64_t seed) {
  Rng rng(seed);
  for (int round = 0; round < 5000; ++round) {
    const LineProblem problem = RandomLine(rng, {.atoms_max = 14});
    const PreparedLine line = PrepareLine(problem).value();
    const auto k = static_cast<std::uint32_t>(problem.atoms.size());
    const std::vector<std::int64_t> costs = CostsByRecurrence(problem, k);
    PricedLine<Int> priced(line);
    for (std::int64_t price = 0; price < 8; ++price) {
      std::int64_t best = 0;
      std::uint32_t fewest = 0;
      std::uint32_t most = 0;
      for (std::uint32_t m = 0; m <= line.size(); ++m) {
        const std::int64_t value = line.total - costs[m] - price * m;
        if (m == 0 || value > best) {
          best = value;
          fewest = m;
        }
        if (value == best) most = m;
      }
      priced.Solve(price, PricedLine<Int>::Ties::kFewest);
      ASSERT_EQ(priced.value(), best) << problem << " price " << price;
      ASSERT_EQ(priced.states(), fewest) << problem << " price " << price;
      ASSERT_EQ(priced.Atoms().size(), fewest);
      priced.Solve(price, PricedLine<Int>::Ties::kMost);
      ASSERT_EQ(priced.value(), best) << problem << " price " << price;
      ASSERT_EQ(priced.states(), most) << problem << " price " << price;
      ASSERT_EQ(priced.Atoms().size(), most);
    }
  }
}

TEST(PricedLineTest, FindsTheBestWithTheFewestAndWithTheMostStates) {
  CompareWithAllCounts<std::int64_t>(9);
}

TEST(PricedLineTest, DoesSoIn128BitsToo) { CompareWithAllCounts<__int128>(10); }

}  // namespace
}  // namespace cairn::placement
