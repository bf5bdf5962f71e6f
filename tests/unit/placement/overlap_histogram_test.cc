#include "libs/placement/overlap_histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "libs/base/rng.h"
#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

OverlapHistogram Make(const OverlapHistogram::Options& options) {
  return OverlapHistogram::Create(options).value();
}

TEST(OverlapHistogramTest, CountsByBinAndFades) {
  OverlapHistogram histogram = Make({.grid = 64, .bins_max = 10, .decay = 0.5});
  ASSERT_TRUE(histogram.Observe(63).ok());
  ASSERT_TRUE(histogram.Observe(64).ok());
  ASSERT_TRUE(histogram.Observe(130, 3).ok());
  EXPECT_DOUBLE_EQ(histogram.Count(0), 0.25);
  EXPECT_DOUBLE_EQ(histogram.Count(1), 0.5);
  EXPECT_DOUBLE_EQ(histogram.Count(2), 3);
  EXPECT_DOUBLE_EQ(histogram.Count(9), 0);
  EXPECT_DOUBLE_EQ(histogram.Total(), 3.75);
  EXPECT_DOUBLE_EQ(histogram.EffectiveCount(), 3.75 * 3.75 / (0.0625 + 0.25 + 9));
}

TEST(OverlapHistogramTest, FadesAsIfEveryCountWereMultipliedEachTime) {
  OverlapHistogram histogram = Make({.bins_max = 8, .decay = 0.9});
  std::vector<double> plain(8, 0);
  Rng rng(20);
  for (int i = 0; i < 20000; ++i) {  // 0.9^20000 is far beyond what a double holds
    const std::uint32_t depth = static_cast<std::uint32_t>(rng.Below(8));
    for (double& count : plain) count *= 0.9;
    plain[depth] += 1;
    ASSERT_TRUE(histogram.Observe(depth).ok());
  }
  for (std::uint32_t bin = 0; bin < 8; ++bin) EXPECT_NEAR(histogram.Count(bin), plain[bin], 1e-9);
  EXPECT_NEAR(histogram.EffectiveCount(), (1 + 0.9) / (1 - 0.9), 1e-6);
}

TEST(OverlapHistogramTest, ItsAtomsAreTheBinsAboveZeroInTwentiethPowers) {
  OverlapHistogram histogram = Make({.bins_max = 8});
  for (const std::uint32_t depth : {0u, 3u, 3u, 5u}) ASSERT_TRUE(histogram.Observe(depth).ok());
  const LineProblem line = histogram.Line();
  ASSERT_EQ(line.atoms.size(), 2u);
  EXPECT_EQ(line.atoms[0].depth, 3u);
  EXPECT_EQ(line.atoms[0].weight, 2 << 20);
  EXPECT_EQ(line.atoms[1].cost, 5);
}

TEST(OverlapHistogramTest, RestoredCountsGoOnFading) {
  OverlapHistogram histogram = Make({.bins_max = 8, .decay = 0.5});
  ASSERT_TRUE(histogram.Restore(2, 7).ok());
  ASSERT_TRUE(histogram.Restore(2, 8).ok());
  ASSERT_TRUE(histogram.Observe(1).ok());
  EXPECT_DOUBLE_EQ(histogram.Count(2), 4);
}

TEST(OverlapHistogramTest, RefusesGarbageAndCountsNothing) {
  OverlapHistogram histogram = Make({.grid = 4, .bins_max = 8});
  EXPECT_TRUE(histogram.Observe(31).ok());
  EXPECT_FALSE(histogram.Observe(32).ok());
  EXPECT_FALSE(histogram.Observe(1, 0).ok());
  EXPECT_FALSE(histogram.Observe(1, -1).ok());
  EXPECT_FALSE(histogram.Observe(1, std::nan("")).ok());
  EXPECT_FALSE(histogram.Observe(1, std::numeric_limits<double>::infinity()).ok());
  EXPECT_FALSE(histogram.Restore(8, 1).ok());
  EXPECT_DOUBLE_EQ(histogram.Total(), 1);
}

TEST(OverlapHistogramTest, RefusesOptionsOutOfBounds) {
  EXPECT_FALSE(OverlapHistogram::Create({.grid = 0}).ok());
  EXPECT_FALSE(OverlapHistogram::Create({.bins_max = 0}).ok());
  EXPECT_FALSE(OverlapHistogram::Create({.bins_max = limits::kBinsMax + 1}).ok());
  EXPECT_FALSE(OverlapHistogram::Create({.decay = 0}).ok());
  EXPECT_FALSE(OverlapHistogram::Create({.decay = 1.5}).ok());
  EXPECT_FALSE(OverlapHistogram::Create({.decay = std::nan("")}).ok());
}

}  // namespace
}  // namespace cairn::placement
