#include "libs/placement/line_hull.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "libs/base/rng.h"

namespace cairn::placement {
namespace {

struct Line {
  std::int64_t slope;
  std::int64_t offset;
  std::int32_t rank;
};

template <class Int>
void CompareWithLookingAtAll(std::uint64_t seed) {
  Rng rng(seed);
  for (int round = 0; round < 5000; ++round) {
    constexpr std::int64_t kPositionMax = 60;
    LineHull<Int> hull(20, kPositionMax);
    std::vector<Line> lines;
    std::int64_t slope = 0;
    std::int64_t position = 0;
    while (lines.size() < 20) {
      slope += static_cast<std::int64_t>(rng.Below(3));
      lines.push_back({slope, static_cast<std::int64_t>(rng.Below(80)) - 40 * slope / 3,
                       static_cast<std::int32_t>(rng.Below(3))});
      hull.Insert(slope, lines.back().offset, static_cast<std::uint32_t>(lines.size() - 1),
                  lines.back().rank);
      if (rng.Chance(1, 2)) {
        position = std::min<std::int64_t>(kPositionMax,
                                          position + static_cast<std::int64_t>(rng.Below(7)));
      }
      std::size_t best = 0;
      const auto key = [&](std::size_t i) {
        return std::tuple(lines[i].offset + lines[i].slope * position, lines[i].rank, i);
      };
      for (std::size_t i = 1; i < lines.size(); ++i) {
        if (key(i) > key(best)) best = i;
      }
      ASSERT_EQ(hull.Best(position).id, best) << "round " << round << " at " << position;
    }
  }
}

TEST(LineHullTest, FindsTheHighestLineThenRankThenTheLast) {
  CompareWithLookingAtAll<std::int64_t>(1);
}

TEST(LineHullTest, DoesSoIn128BitsToo) { CompareWithLookingAtAll<__int128>(2); }

TEST(LineHullTest, ClearForgetsEverything) {
  LineHull<std::int64_t> hull(2, 100);
  hull.Insert(1, 1000, 7, 0);
  hull.Clear();
  hull.Insert(1, 1, 8, 0);
  EXPECT_EQ(hull.Best(5).id, 8u);
}

}  // namespace
}  // namespace cairn::placement
