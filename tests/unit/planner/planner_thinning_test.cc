#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/match.h"
#include "libs/planner/limits.h"
#include "libs/planner/planner.h"
#include "tests/unit/planner/feeder.h"

// What others' observations, their weight and thinning do to a family's plans.
namespace cairn::planner {
namespace {

using Depths = std::vector<std::uint64_t>;

TEST(PlannerThinningTest, NoWeightOfOthersMovesAFamilyThatIsEstablishedWhateverTheEntryAskedFor) {
  const auto planner = Make();
  std::uint64_t id = 0;
  ASSERT_TRUE(SendPairs(*planner, 7, 30, 300, id).ok());
  std::vector<PlanQuestion> questions;
  for (const std::uint64_t resume : {0, 5, 20}) {
    for (const std::uint64_t shared : {20, 40}) {
      questions.push_back(QuestionOf(7, 2));
      questions.back().resume_depth = resume * 64;
      questions.back().shared_depth = shared * 64;
    }
  }
  std::vector<PlanAnswer> before;
  for (const PlanQuestion& question : questions) before.push_back(*planner->Plan(question));
  for (std::uint64_t other = 100; other < 400; ++other) {
    Feeder feeder(*planner, 16);
    ASSERT_TRUE(feeder.SendChain(other, 1 + other % 40, 10).ok());
    ASSERT_TRUE(SendPairs(*planner, other, 1 + other % 38, 20, id).ok());
  }
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const PlanAnswer after = *planner->Plan(questions[i]);
    EXPECT_EQ(after.positions, before[i].positions) << i;
    EXPECT_EQ(after.expert, before[i].expert) << i;
    EXPECT_EQ(after.expected_recompute, before[i].expected_recompute) << i;
  }
}

TEST(PlannerThinningTest, ThinnedOneFamilyTellsOthersNoMoreThanItsBound) {
  const auto planner = Make();
  const auto alone = Make();
  std::uint64_t id = 0;
  ASSERT_TRUE(SendPairs(*planner, 7, 30, 300, id).ok());
  id = 0;
  ASSERT_TRUE(SendPairs(*alone, 7, 30, 300, id).ok());
  planner->SetThinning(16);
  for (std::uint64_t other = 100; other < 130; ++other) {
    Feeder feeder(*planner, 16);
    ASSERT_TRUE(feeder.SendChain(other, 3, 3000).ok());
  }
  EXPECT_GT(planner->Stats().observations_thinned, 80'000u);
  EXPECT_EQ(planner->Plan(QuestionOf(7, 2))->positions, alone->Plan(QuestionOf(7, 2))->positions);
}

TEST(PlannerThinningTest, ThinningTakesWholeRunsOfEachFamilyAndOneInSoMany) {
  for (const std::uint32_t strength : {1u, 2u, 4u, 16u}) {
    const auto planner = Make();
    planner->SetThinning(strength);
    const std::uint64_t runs = 32;
    for (const std::uint64_t family : {0u, 1u, 7u, 1000u}) {
      Feeder feeder(*planner);
      std::uint64_t was = planner->Stats().observations;
      std::uint64_t taken_runs = 0;
      for (std::uint64_t run = 0; run < runs; ++run) {
        ASSERT_TRUE(feeder.SendChain(family, 40, Planner::kRun).ok());
        const std::uint64_t is = planner->Stats().observations;
        EXPECT_TRUE(is == was || is == was + Planner::kRun) << is - was;
        taken_runs += is > was ? 1 : 0;
        was = is;
      }
      EXPECT_EQ(taken_runs, runs / strength) << family;
    }
    const PlannerStats stats = planner->Stats();
    EXPECT_EQ(stats.thinning, strength);
    EXPECT_EQ(stats.observations + stats.observations_thinned, 4 * runs * Planner::kRun);
    EXPECT_EQ(planner->Families(1).at(0).thinned, runs * Planner::kRun * (strength - 1) / strength);
  }
}

TEST(PlannerThinningTest, FamiliesHaveTheirRunsAtDifferentTimes) {
  const auto planner = Make();
  planner->SetThinning(16);
  constexpr std::uint64_t kFamilies = 1600;
  for (std::uint64_t family = 1; family <= kFamilies; ++family) {
    ASSERT_TRUE(planner->Expose({.family = family, .entry = 1, .length = 640}).ok());
  }
  EXPECT_GT(planner->Stats().exposures, kFamilies / 16 / 2);
  EXPECT_LT(planner->Stats().exposures, kFamilies / 16 * 2);
}

TEST(PlannerThinningTest, ThinnedExposuresAreCountedApart) {
  const auto planner = Make();
  planner->SetThinning(2);
  for (std::uint64_t i = 0; i < 4 * Planner::kRun; ++i) {
    ASSERT_TRUE(planner->Expose({.family = 5, .entry = i + 1, .length = 640}).ok());
  }
  EXPECT_EQ(planner->Stats().exposures, 2 * Planner::kRun);
  EXPECT_EQ(planner->Stats().exposures_thinned, 2 * Planner::kRun);
  EXPECT_EQ(planner->Stats().observations_thinned, 0u);
}

TEST(PlannerThinningTest, GarbageIsRefusedHoweverMuchIsThinned) {
  const auto planner = Make();
  planner->SetThinning(16);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_FALSE(planner
                     ->Observe({.family = i % 3,
                                .entry = 1,
                                .entry_length = 64,
                                .overlap_depth = 128,
                                .request_length = 640,
                                .request_entry = 2 + i})
                     .ok());
  }
  EXPECT_EQ(planner->Stats().observations_refused, 1000u);
  EXPECT_EQ(planner->Stats().observations_thinned, 0u);
  planner->SetThinning(0);  // no strength at all is none
  EXPECT_EQ(planner->Stats().thinning, 1u);
  planner->SetThinning(1u << 31);
  EXPECT_EQ(planner->Stats().thinning, limits::kThinningMax);
}

TEST(PlannerThinningTest, AFamilyThatIsThinnedStillFindsItsOwnLeader) {
  // All others part at their ends, this one always at a head of 20 positions that they do not have:
  // a state at the end is of no use to it.
  const auto planner = Make({.states_per_entry = 1});
  std::uint64_t id = 0;
  for (std::uint64_t other = 100; other < 130; ++other) {
    Feeder feeder(*planner);
    ASSERT_TRUE(feeder.SendChain(other, 39, 40).ok());
  }
  EXPECT_GE(planner->Plan(QuestionOf(7, 1))->positions.at(0), 39u * 64);
  planner->SetThinning(16);
  ASSERT_TRUE(SendPairs(*planner, 7, 20, 5000, id).ok());
  EXPECT_LT(planner->Families(1).at(0).requests, 1500u);
  const PlanAnswer answer = planner->Plan(QuestionOf(7, 1)).value();
  EXPECT_LE(answer.positions.at(0), 20u * 64);
  EXPECT_GE(answer.positions.at(0), 15u * 64);
  EXPECT_TRUE(absl::StrContains(answer.reason, "of this family")) << answer.reason;
}

TEST(PlannerThinningTest, ALawThatJumpsIsFollowedWithinTwoHundredTimesTheThinning) {
  for (const std::uint32_t strength : {1u, 4u, 16u}) {
    const auto planner = Make({.states_per_entry = 1, .entries_max = 1 << 18});
    std::uint64_t id = 0;
    ASSERT_TRUE(SendPairs(*planner, 7, 40, 3000, id).ok());
    ASSERT_EQ(planner->Plan(QuestionOf(7, 1))->positions,
              (Depths{39 * 64}));  // the last token runs
    planner->SetThinning(strength);
    ASSERT_TRUE(SendPairs(*planner, 7, 20, 200 * static_cast<int>(strength), id).ok());
    const Depths plan = planner->Plan(QuestionOf(7, 1))->positions;
    ASSERT_EQ(plan.size(), 1u);
    EXPECT_LE(plan[0], 20u * 64) << strength;
    EXPECT_GE(plan[0], 15u * 64) << strength;
  }
}

}  // namespace
}  // namespace cairn::planner
