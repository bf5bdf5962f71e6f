#include "libs/placement_rpc/plan_cache.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "libs/base/rng.h"

namespace cairn {
namespace {

using Positions = std::vector<std::uint64_t>;
constexpr std::uint64_t kGrid = 64;

CheckpointQuestion Question(std::uint64_t family, std::uint64_t blocks, std::uint64_t resume = 0,
                            std::uint64_t shared = 0) {
  return {.family = family,
          .length = blocks * kGrid + 10,
          .resume_depth = resume * kGrid,
          .shared_depth = shared * kGrid};
}

Positions InTokens(Positions blocks) {
  for (std::uint64_t& block : blocks) block *= kGrid;
  return blocks;
}

TEST(PlanCacheTest, KnowsNothingOfOtherKindsOfPrompts) {
  PlanCache cache(8);
  EXPECT_EQ(cache.Recall(Question(1, 20), kGrid), std::nullopt);
  cache.Remember(Question(1, 20), kGrid, InTokens({10, 20}));
  EXPECT_EQ(cache.Recall(Question(2, 20), kGrid), std::nullopt) << "another family";
  EXPECT_EQ(cache.Recall(Question(1, 200), kGrid), std::nullopt) << "much longer";
  EXPECT_EQ(cache.Recall(Question(1, 20, 3), kGrid), std::nullopt) << "it resumes";
  EXPECT_EQ(cache.Recall(Question(1, 20, 0, 3), kGrid), std::nullopt) << "it parts";
  EXPECT_EQ(cache.Recall(Question(1, 20), kGrid), InTokens({10, 20}));
}

TEST(PlanCacheTest, DistancesFromTheEndFitOtherLengths) {
  PlanCache cache(8);
  cache.Remember(Question(1, 20), kGrid, InTokens({1, 12, 20}));
  EXPECT_EQ(cache.Recall(Question(1, 30), kGrid), InTokens({11, 22, 30}));
  EXPECT_EQ(cache.Recall(Question(1, 17), kGrid), InTokens({9, 17})) << "before the start: none";
}

TEST(PlanCacheTest, AStateAtTheBranchStaysThere) {
  PlanCache cache(8);
  cache.Remember(Question(1, 20, 2, 7), kGrid, InTokens({7, 20}));
  EXPECT_EQ(cache.Recall(Question(1, 25, 3, 11), kGrid), InTokens({11, 25}));
  EXPECT_EQ(cache.Recall(Question(1, 25, 3, 25), kGrid), InTokens({25})) << "both in one place";
}

TEST(PlanCacheTest, NothingUpToWhereItResumes) {
  PlanCache cache(8);
  cache.Remember(Question(1, 20, 1), kGrid, InTokens({5, 20}));
  EXPECT_EQ(cache.Recall(Question(1, 20, 5), kGrid), InTokens({20}));
  EXPECT_EQ(cache.Recall(Question(1, 20, 20), kGrid), Positions());
}

TEST(PlanCacheTest, TheLastPlanCountsAndTheLeastUsedGoes) {
  PlanCache cache(2);
  cache.Remember(Question(1, 20), kGrid, InTokens({10}));
  cache.Remember(Question(1, 20), kGrid, InTokens({11}));
  EXPECT_EQ(cache.size(), 1u);
  cache.Remember(Question(2, 20), kGrid, InTokens({12}));
  EXPECT_EQ(cache.Recall(Question(1, 20), kGrid), InTokens({11}));
  cache.Remember(Question(3, 20), kGrid, InTokens({13}));
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(cache.Recall(Question(2, 20), kGrid), std::nullopt);
  EXPECT_EQ(cache.Recall(Question(1, 20), kGrid), InTokens({11}));
}

TEST(PlanCacheTest, BalancedPositionsAreThoseOfWhatIsComputed) {
  EXPECT_EQ(BalancedPositions(Question(1, 5), kGrid, 2), InTokens({2, 4}));
  EXPECT_EQ(BalancedPositions(Question(1, 15, 10), kGrid, 2), InTokens({12, 14}));
  EXPECT_EQ(BalancedPositions(Question(1, 10, 10), kGrid, 2), Positions());
  EXPECT_EQ(BalancedPositions(Question(1, 0), kGrid, 2), Positions());
}

// Whatever was remembered and is asked: positions where a state can stand.
TEST(PlanCacheTest, PositionsAreAlwaysPossible) {
  Rng rng(5);
  PlanCache cache(64);
  int recalled = 0;
  for (int i = 0; i < 20'000; ++i) {
    CheckpointQuestion question{.family = rng.Below(3), .length = rng.Between(1, 1 << 12)};
    question.resume_depth = rng.Chance(1, 2) ? 0 : rng.Below(question.length + 1);
    question.shared_depth = rng.Chance(1, 2) ? 0 : rng.Below(question.length + 1);
    const auto cached = cache.Recall(question, kGrid);
    recalled += cached.has_value() ? 1 : 0;
    for (const Positions& positions :
         {cached.value_or(Positions()), BalancedPositions(question, kGrid, 3)}) {
      ASSERT_TRUE(std::is_sorted(positions.begin(), positions.end()));
      ASSERT_EQ(std::adjacent_find(positions.begin(), positions.end()), positions.end());
      for (const std::uint64_t position : positions) {
        ASSERT_EQ(position % kGrid, 0u);
        ASSERT_GT(position, question.resume_depth);
        ASSERT_LE(position, question.length);
      }
    }
    Positions plan;
    for (std::uint64_t at = kGrid; at <= question.length; at += kGrid) {
      if (at > question.resume_depth && rng.Chance(1, 8)) plan.push_back(at);
    }
    cache.Remember(question, kGrid, plan);
    ASSERT_EQ(cache.Recall(question, kGrid), plan) << "the same prompt has the same plan";
  }
  EXPECT_GT(recalled, 10'000);
}

}  // namespace
}  // namespace cairn
