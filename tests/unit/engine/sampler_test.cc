#include "libs/engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace cairn {
namespace {

TEST(SamplerTest, GreedyTakesTheLowestOfEqualHighest) {
  Sampler sampler;
  EXPECT_EQ(sampler.Sample({}, 0, 0, {1.f, 3.f, 3.f, 2.f}), 1u);
}

TEST(SamplerTest, SameSeedChoiceAndIndexGiveTheSameToken) {
  Sampler a, b;
  const std::vector<float> logits = {0.1f, 0.2f, 0.3f, 0.15f};
  const SamplingOptions options{.temperature = 1, .seed = 5};
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(a.Sample(options, 0, i, logits), b.Sample(options, 0, i, logits));
  }
  b.Sample(options, 0, 3, logits);  // what was sampled before does not matter
  EXPECT_EQ(a.Sample(options, 0, 7, logits), b.Sample(options, 0, 7, logits));
}

TEST(SamplerTest, SharesFollowTheSoftmax) {
  Sampler sampler;
  const std::vector<float> logits = {0.f, 1.f, 2.f};
  std::map<std::uint32_t, int> counts;
  constexpr int kTimes = 20'000;
  for (std::uint32_t i = 0; i < kTimes; ++i) {
    counts[sampler.Sample({.temperature = 0.8f, .seed = 9}, 0, i, logits)]++;
  }
  double total = 0;
  for (const float logit : logits) total += std::exp(logit / 0.8);
  for (std::uint32_t t = 0; t < 3; ++t) {
    EXPECT_NEAR(counts[t] / double{kTimes}, std::exp(logits[t] / 0.8) / total, 0.015) << t;
  }
}

TEST(SamplerTest, TopPKeepsTheShortestHeadThatReachesIt) {
  Sampler sampler;
  const std::vector<float> logits = {std::log(0.5f), std::log(0.3f), std::log(0.15f),
                                     std::log(0.05f)};
  for (std::uint32_t i = 0; i < 2000; ++i) {
    EXPECT_LT(sampler.Sample({.temperature = 1, .top_p = 0.75f, .seed = 2}, 0, i, logits), 2u);
  }
  EXPECT_EQ(sampler.Sample({.temperature = 1, .top_p = 0.01f, .seed = 2}, 0, 0, logits), 0u);
}

TEST(SamplerTest, WideLogitsDoNotOverflow) {
  Sampler sampler;
  EXPECT_EQ(sampler.Sample({.temperature = 0.01f, .seed = 1}, 0, 0, {-1e4f, 40.f, -40.f}), 1u);
}

// What a model file with broken weights leads to.
TEST(SamplerTest, LogitsThatAreNoNumbersGiveSomeTokenAndNoHarm) {
  Sampler sampler;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  std::vector<float> half(1000, nan);
  for (std::size_t i = 1; i < half.size(); i += 2) half[i] = static_cast<float>(i % 7);
  half[0] = 1;
  for (const auto& logits :
       {std::vector<float>(1000, nan), std::vector<float>(1000, -infinite), half,
        std::vector<float>{1, infinite, nan, infinite}, std::vector<float>{nan, 2, -infinite}}) {
    for (const float top_p : {1.f, 0.5f}) {
      const SamplingOptions options{.temperature = 1, .top_p = top_p, .seed = 3};
      EXPECT_LT(sampler.Sample(options, 0, 0, logits), logits.size());
    }
  }
  EXPECT_EQ(half[sampler.Sample({.temperature = 0.01f, .seed = 1}, 0, 0, half)], 6);
}

// Users take small seeds: none of them may be special at any place.
TEST(SamplerTest, SmallSeedsGiveUnlikeNumbers) {
  std::map<double, int> seen;
  int low = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (std::uint32_t i = 0; i < 100; ++i) {
      const double uniform = SampleUniform(seed, 0, i);
      EXPECT_EQ(++seen[uniform], 1) << seed << " " << i;
      low += uniform < 0.01 ? 1 : 0;
    }
  }
  EXPECT_NEAR(low, 100, 40);
}

TEST(SamplerTest, UniformDependsOnAllThree) {
  EXPECT_NE(SampleUniform(1, 0, 0), SampleUniform(2, 0, 0));
  EXPECT_NE(SampleUniform(1, 0, 0), SampleUniform(1, 1, 0));
  EXPECT_NE(SampleUniform(1, 0, 0), SampleUniform(1, 0, 1));
}

}  // namespace
}  // namespace cairn
