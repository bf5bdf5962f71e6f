#include "tools/bench/placement/floored_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "libs/base/rng.h"

namespace cairn::bench {
namespace {

// The same by its values at 0 .. end.
struct Plain {
  std::vector<std::int64_t> values;

  Plain(std::int64_t end, std::int64_t slope) {
    for (std::int64_t x = 0; x <= end; ++x) values.push_back(x * slope);
  }
  void Add(const Plain& other) {
    for (std::size_t x = 0; x < values.size(); ++x) values[x] += other.values[x];
  }
  std::int64_t Floor(std::int64_t drop) {
    const std::int64_t floor = values.back() - drop;
    std::int64_t first = 0;
    while (values[first] < floor) ++first;
    for (std::int64_t& value : values) value = std::max(value, floor);
    return first;
  }
};

TEST(FlooredSumTest, ALineIsFlooredAtADropFromItsEnd) {
  FlooredSum line(10, 3);
  EXPECT_EQ(line.Floor(7), 8);  // 24 is the first value at or above 30 - 7
  EXPECT_EQ(line.at_start(), 23);
  EXPECT_EQ(line.at_end(), 30);
  EXPECT_EQ(line.Floor(100), 0);  // nothing lies below that
  EXPECT_EQ(line.at_start(), 23);
}

TEST(FlooredSumTest, ADropOfNothingMakesItFlat) {
  FlooredSum line(10, 3);
  EXPECT_EQ(line.Floor(0), 10);
  EXPECT_EQ(line.at_start(), 30);
  FlooredSum sum(4, 1);
  sum.Add(std::move(line));
  EXPECT_EQ(sum.at_start(), 30);
  EXPECT_EQ(sum.at_end(), 34);
}

TEST(FlooredSumTest, EqualsItsValuesThroughTreesOfSumsAndFloors) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    std::vector<FlooredSum> sums;
    std::vector<Plain> plains;
    for (int step = 0; step < 12; ++step) {
      const auto slope = static_cast<std::int64_t>(rng.Below(6));
      std::int64_t end = 12;
      std::size_t taken = sums.empty() ? 0 : rng.Below(std::min<std::size_t>(sums.size(), 3) + 1);
      for (std::size_t t = 0; t < taken; ++t) {
        end = std::min(end, sums[sums.size() - 1 - t].end());
      }
      end -= static_cast<std::int64_t>(rng.Below(3));
      if (end < 0) end = 0;
      FlooredSum sum(end, slope);
      Plain plain(end, slope);
      for (; taken > 0; --taken) {
        sum.Add(std::move(sums.back()));
        plain.Add(plains.back());
        sums.pop_back();
        plains.pop_back();
      }
      ASSERT_EQ(sum.at_end(), plain.values.back());
      const auto drop = static_cast<std::int64_t>(rng.Below(40));
      ASSERT_EQ(sum.Floor(drop), plain.Floor(drop));
      ASSERT_EQ(sum.at_start(), plain.values.front());
      ASSERT_EQ(sum.at_end(), plain.values.back());
      sums.push_back(std::move(sum));
      plains.push_back(std::move(plain));
    }
  }
}

}  // namespace
}  // namespace cairn::bench
