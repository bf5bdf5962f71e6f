#include "libs/planner/planner.h"

#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/match.h"
#include "libs/base/rng.h"
#include "libs/placement/limits.h"
#include "libs/planner/limits.h"
#include "tests/unit/planner/feeder.h"

namespace cairn::planner {
namespace {

using Depths = std::vector<std::uint64_t>;

TEST(PlannerTest, PlansInTokensOnTheGridFromTheFirstRequestOn) {
  const auto planner = Make();
  const PlanAnswer answer = planner->Plan(QuestionOf(7, 2)).value();
  ASSERT_EQ(answer.positions.size(), 2u);
  EXPECT_EQ(answer.positions[1], 40u * 64);
  EXPECT_EQ(answer.positions[0] % 64, 0u);
  EXPECT_GT(answer.expected_recompute, 0);
  EXPECT_EQ(answer.expert, "law");
  EXPECT_TRUE(absl::StrContains(answer.reason, "0 requests")) << answer.reason;
}

TEST(PlannerTest, AFamilyLearnsWhereItsRequestsPart) {
  const auto planner = Make();
  ASSERT_TRUE(Feeder(*planner).Send(7, 17, 300).ok());
  // A new entry that has met nothing: its law is where others of the family were met.
  const Explanation explained = planner->Explain(QuestionOf(7, 1)).value();
  EXPECT_EQ(explained.family.requests, 301u);
  EXPECT_EQ(explained.family.claims, 300u);
  EXPECT_GT(explained.family.ceiling_tokens, 0u);
  ASSERT_EQ(explained.strategies.size(), explained.experts.size() + 3);
  EXPECT_EQ(explained.strategies[0].name, "followed");
  EXPECT_EQ(explained.strategies.back().name, "dense");
  EXPECT_EQ(explained.strategies.back().expected_recompute, 0);
  double claims = 0;
  for (const DistanceCount& bin : explained.distances) {
    claims += bin.claims;
    EXPECT_EQ(bin.claims > 0, bin.first <= 23 * 64 && 23 * 64 < bin.end);
  }
  EXPECT_EQ(claims, 300);
  ASSERT_TRUE(explained.radius_tokens.has_value());
}

TEST(PlannerTest, OnlyAClaimIsServedAndLengthsOfNoEntryAreNotLookedAt) {
  const auto planner = Make();
  Observation observation{.family = 7, .request_length = 640, .request_entry = 2};
  observation.was_served = true;
  ASSERT_TRUE(planner->Observe(observation).ok()) << "nothing in common: no entry, no length";
  observation.request_entry = 3;
  observation.entry = 2;
  observation.entry_length = 640;
  observation.overlap_depth = 63;  // less than a position
  ASSERT_TRUE(planner->Observe(observation).ok());
  EXPECT_EQ(planner->Families(1)[0].served, 0u);
  EXPECT_EQ(planner->Families(1)[0].claims, 0u);
  observation.request_entry = 4;
  observation.overlap_depth = 128;
  ASSERT_TRUE(planner->Observe(observation).ok());
  EXPECT_EQ(planner->Families(1)[0].served, 1u);
  EXPECT_EQ(planner->Families(1)[0].claims, 1u);
}

TEST(PlannerTest, StatesThatAreThereAreKeptAndNothingStandsAboveTheResumePoint) {
  const auto planner = Make();
  PlanQuestion question = QuestionOf(7, 5);
  question.resume_depth = 10 * 64;
  question.existing = {40 * 64, 5 * 64, 40 * 64};
  question.branches = {{.depth = 20 * 64 + 5, .claims = 900}, {.depth = 64, .claims = 1}};
  question.shared_depth = 30 * 64;
  const PlanAnswer answer = planner->Plan(question).value();
  EXPECT_FALSE(answer.positions.empty());
  bool has_branch = false;
  for (const std::uint64_t position : answer.positions) {
    EXPECT_GT(position, 10u * 64);
    EXPECT_LT(position, 40u * 64);
    has_branch |= position == 20 * 64;
  }
  EXPECT_TRUE(has_branch);
  question.budget = 0;
  EXPECT_EQ(planner->Plan(question)->positions, Depths{});
}

TEST(PlannerTest, GarbageIsRefusedCountedAndChangesNothing) {
  const auto planner = Make();
  ASSERT_TRUE(Feeder(*planner).Send(7, 17, 5).ok());
  const std::string before = planner->Snapshot();
  const Observation good{.family = 7,
                         .entry = 1,
                         .entry_length = 40 * 64,
                         .overlap_depth = 640,
                         .request_length = 1000,
                         .request_entry = 99};
  using Doubles = std::numeric_limits<double>;
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::pair<std::string, Observation>> bad(14, {"", good});
  bad[0] = {"overlap_depth", good}, bad[0].second.overlap_depth = 1001;
  bad[1] = {"overlap_depth", good}, bad[1].second.overlap_depth = kHuge;
  bad[2] = {"entry_length", good}, bad[2].second.entry_length = kHuge;
  bad[3] = {"request_length", good}, bad[3].second.request_length = kHuge;
  bad[4] = {"request_length", good}, bad[4].second.request_length = 0;
  bad[5] = {"weight", good}, bad[5].second.weight = Doubles::quiet_NaN();
  bad[6] = {"weight", good}, bad[6].second.weight = Doubles::infinity();
  bad[7] = {"weight", good}, bad[7].second.weight = -1;
  bad[8] = {"weight", good}, bad[8].second.weight = 0;
  bad[9] = {"weight", good}, bad[9].second.weight = 1e300;
  bad[10] = {"request_entry", good}, bad[10].second.request_entry = 0;
  bad[11] = {"request_entry", good}, bad[11].second.request_entry = 1;
  bad[12] = {"entry_length", good}, bad[12].second.entry_length = 39 * 64;
  bad[13] = {"entry", good}, bad[13].second.entry = 0;
  for (const auto& [field, observation] : bad) {
    const absl::Status status = planner->Observe(observation);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StartsWith(status.message(), field + ":")) << status;
  }
  EXPECT_FALSE(planner->Expose({.family = 7, .entry = 0, .length = 64}).ok());
  EXPECT_FALSE(planner->Expose({.family = 7, .entry = 50, .length = kHuge}).ok());
  EXPECT_EQ(planner->Stats().observations_refused, bad.size());
  EXPECT_EQ(planner->Stats().exposures_refused, 2u);
  EXPECT_EQ(planner->Snapshot(), before);
  EXPECT_TRUE(planner->Observe(good).ok());
}

TEST(PlannerTest, QuestionsThatMakeNoSenseNameTheirField) {
  const auto planner = Make();
  std::vector<std::pair<std::string, PlanQuestion>> bad(9, {"", QuestionOf(7, 2)});
  bad[0].first = "length", bad[0].second.length = 0;
  bad[1].first = "length", bad[1].second.length = 1ull << 60;
  bad[2].first = "grid", bad[2].second.grid = 16;
  bad[3].first = "resume_depth", bad[3].second.resume_depth = 65;
  bad[4].first = "shared_depth", bad[4].second.shared_depth = 40 * 64 + 1;
  bad[5].first = "budget", bad[5].second.budget = 1u << 20;
  bad[6].first = "existing", bad[6].second.existing = {63};
  bad[7].first = "branches", bad[7].second.branches = {{.depth = 64, .claims = 0}};
  bad[8].first = "resume_depth", bad[8].second.resume_depth = 41 * 64;
  for (const auto& [field, question] : bad) {
    const absl::Status status = planner->Plan(question).status();
    EXPECT_TRUE(absl::StartsWith(status.message(), field + ":")) << field << ": " << status;
    EXPECT_FALSE(planner->Explain(question).ok());
  }
  EXPECT_EQ(planner->Stats().plans_refused, bad.size());
}

TEST(PlannerTest, ARequestThatIsReportedTwiceCountsOnceAndACensoredOneTeachesNothing) {
  const auto planner = Make();
  ASSERT_TRUE(Feeder(*planner).Send(7, 17, 3).ok());
  ASSERT_TRUE(Feeder(*planner).Send(7, 17, 3).ok());  // the same ids
  EXPECT_EQ(planner->Stats().observations, 3u);
  EXPECT_EQ(planner->Stats().repeated, 4u);
  EXPECT_TRUE(planner
                  ->Observe({.family = 7,
                             .entry = 1,
                             .entry_length = 40 * 64,
                             .overlap_depth = 64,
                             .request_length = 128,
                             .request_entry = 50,
                             .is_censored = true})
                  .ok());
  const FamilyReport family = planner->Families(10).at(0);
  EXPECT_EQ(family.requests, 4u);
  EXPECT_EQ(family.censored, 1u);
}

TEST(PlannerTest, AWeightIsSoManyRequests) {
  const auto planner = Make();
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(planner
                    ->Observe({.family = 7,
                               .entry = 1,
                               .entry_length = 640,
                               .overlap_depth = 64,
                               .request_length = 640,
                               .request_entry = 10 + i,
                               .weight = i < 4 ? 0.25 : 3})
                    .ok());
  }
  EXPECT_EQ(planner->Families(1).at(0).claims, 1u + 4 * 3);
  ASSERT_TRUE(planner
                  ->Observe({.family = 8,
                             .entry = 1,
                             .entry_length = 640,
                             .overlap_depth = 64,
                             .request_length = 640,
                             .request_entry = 2,
                             .weight = 16})
                  .ok());
  EXPECT_EQ(planner->Families(1).at(0).requests, 32u);  // and as many that came before
  EXPECT_EQ(planner->Stats().entries_adopted, 2u);
}

TEST(PlannerTest, FamiliesGoLeastRecentlyUsedFirstAndEntriesAllAtOnce) {
  const auto planner = Make({.families_max = 10, .entries_max = 100});
  for (std::uint64_t family = 1; family <= 50; ++family) {
    ASSERT_TRUE(Feeder(*planner).Send(family, 17, 3).ok());
    ASSERT_TRUE(planner->Plan(QuestionOf(1, 1)).ok());  // stays in use
    EXPECT_LE(planner->Stats().families, 10u);
    EXPECT_LE(planner->Stats().entries, 100u);
  }
  const std::vector<FamilyReport> families = planner->Families(100);
  ASSERT_EQ(families.size(), 10u);
  bool has_first = false;
  for (const FamilyReport& family : families) has_first |= family.family == 1;
  EXPECT_TRUE(has_first);
  EXPECT_EQ(planner->Stats().families_evicted, 40u);
  EXPECT_GE(planner->Stats().restarts, 1u);
  EXPECT_EQ(planner->Families(3).size(), 3u);
}

TEST(PlannerTest, OneFamilysObservationsDoNotMoveAnEstablishedOne) {
  const auto planner = Make();
  ASSERT_TRUE(Feeder(*planner).Send(7, 17, 300).ok());
  PlanQuestion question = QuestionOf(7, 2);
  question.shared_depth = 17 * 64;
  const PlanAnswer before = planner->Plan(question).value();
  Rng rng(3);
  for (std::uint64_t depth = 1; depth < 40; ++depth) {
    ASSERT_TRUE(planner
                    ->Observe({.family = 666,
                               .entry = 1,
                               .entry_length = 40 * 64,
                               .overlap_depth = depth * 64,
                               .request_length = 40 * 64,
                               .request_entry = 1000 + depth,
                               .weight = 16})
                    .ok());
  }
  const PlanAnswer after = planner->Plan(question).value();
  EXPECT_EQ(after.positions, before.positions);
  EXPECT_EQ(after.expert, before.expert);
}

TEST(PlannerTest, APlanChangesNothingThatASnapshotHolds) {
  const auto planner = Make();
  for (std::uint64_t family = 1; family < 20; ++family) {
    ASSERT_TRUE(Feeder(*planner).Send(family, 2 * family, 30).ok());
  }
  const std::string before = planner->Snapshot();
  for (std::uint64_t family = 0; family < 1000; ++family) {
    ASSERT_TRUE(planner->Plan(QuestionOf(family, 2)).ok());
  }
  EXPECT_EQ(planner->Snapshot(), before);
  EXPECT_EQ(planner->Families(1).at(0).family, 19u);
  ASSERT_TRUE(planner->Plan(QuestionOf(3, 2)).ok());
  EXPECT_EQ(planner->Snapshot(), before);
}

TEST(PlannerTest, ARestoredPlannerPlansAsTheOneThatWasSaved) {
  const auto planner = Make();
  for (std::uint64_t family = 1; family < 20; ++family) {
    ASSERT_TRUE(Feeder(*planner).Send(family, 2 * family, 30).ok());
  }
  const std::string snapshot = planner->Snapshot();
  const auto restored = Make();
  ASSERT_TRUE(restored->Load(snapshot).ok());
  EXPECT_EQ(restored->Snapshot(), snapshot);
  EXPECT_EQ(restored->Stats().entries, 0u);
  for (std::uint64_t family = 0; family < 22; ++family) {
    const PlanAnswer was = planner->Plan(QuestionOf(family, 3)).value();
    const PlanAnswer is = restored->Plan(QuestionOf(family, 3)).value();
    EXPECT_EQ(is.positions, was.positions) << family;
    EXPECT_EQ(is.expert, was.expert);
    EXPECT_EQ(is.expected_recompute, was.expected_recompute);
  }
  ASSERT_TRUE(Feeder(*restored).Send(3, 6, 3).ok());  // entries of before are met again
}

TEST(PlannerTest, AWrongSnapshotChangesNothing) {
  const auto planner = Make();
  ASSERT_TRUE(Feeder(*planner).Send(7, 17, 30).ok());
  const std::string good = planner->Snapshot();
  const auto other = Make();
  ASSERT_TRUE(Feeder(*other).Send(8, 5, 30).ok());
  const std::string before = other->Snapshot();
  for (std::size_t size = 0; size < good.size(); size += 131) {
    EXPECT_FALSE(other->Load(good.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(other->Load(good + "x").ok());
  EXPECT_EQ(other->Snapshot(), before);
  EXPECT_EQ(Make({.grid_tokens = 16})->Load(good).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(other->Load(good).ok());
  EXPECT_EQ(other->Snapshot(), good);
}

TEST(PlannerTest, OptionsOutOfBoundsAreNamed) {
  EXPECT_TRUE(absl::StartsWith(Planner::Create({.grid_tokens = 0}).status().message(), "grid_"));
  EXPECT_FALSE(Planner::Create({.states_per_entry = 0}).ok());
  EXPECT_FALSE(Planner::Create({.families_max = 0}).ok());
  EXPECT_FALSE(Planner::Create({.entries_max = 1}).ok());
}

}  // namespace
}  // namespace cairn::planner
