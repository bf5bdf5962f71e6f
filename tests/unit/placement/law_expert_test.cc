#include "libs/placement/law_expert.h"

#include <gtest/gtest.h>

#include "libs/base/rng.h"
#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

using Depths = std::vector<std::uint32_t>;

PlanQuery QueryOf(const EntryShape& shape, std::uint32_t states_max) {
  return {.shape = shape, .branches = {}, .held = {}, .states_max = states_max};
}

// Entries of `end` blocks, each claimed once at `depth`.
void Teach(LawExpert& expert, const EntryShape& shape, std::uint32_t depth, int entries) {
  for (int i = 0; i < entries; ++i) {
    expert.Expose(shape);
    expert.Observe({.entry = shape, .depth = depth});
  }
}

TEST(LawExpertTest, WithoutObservationsItHoldsTheEndFirstAndSpreadsTheRest) {
  const LawExpert expert("law", {});
  const Depths one = expert.Plan(QueryOf({.end = 40}, 1));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_GE(one[0], 36u);
  const Depths four = expert.Plan(QueryOf({.end = 40}, 4));
  EXPECT_EQ(four.size(), 4u);
  EXPECT_EQ(four.back(), 40u);
  EXPECT_TRUE(expert.Plan(QueryOf({.end = 40}, 0)).empty());
  EXPECT_TRUE(expert.Plan(QueryOf({.end = 0}, 3)).empty());
  EXPECT_TRUE(expert.Plan(QueryOf({.end = 9, .resume = 9, .shared = 9}, 3)).empty());
}

TEST(LawExpertTest, LearnsTheDistanceFromTheEndWhateverTheLength) {
  LawExpert expert("law", {.is_pooled = true});
  for (std::uint32_t end = 20; end < 60; ++end) Teach(expert, {.end = end}, end - 3, 10);
  EXPECT_EQ(expert.Plan(QueryOf({.end = 100}, 1)), (Depths{97}));
}

TEST(LawExpertTest, FollowsALawThatJumpsWithinTwoHundredObservations) {
  for (const bool is_pooled : {false, true}) {
    for (const bool is_from_both_ends : {false, true}) {
      LawExpert expert("law", {.is_pooled = is_pooled, .is_from_both_ends = is_from_both_ends});
      const EntryShape shape{.end = 40};
      Teach(expert, shape, 40, 20000);
      ASSERT_EQ(expert.Plan(QueryOf(shape, 1)), (Depths{40}));
      Teach(expert, shape, 20, 200);
      const Depths plan = expert.Plan(QueryOf(shape, 1));
      ASSERT_EQ(plan.size(), 1u);
      EXPECT_LE(plan[0], 20u);  // so far from the end, a few positions share a rate
      EXPECT_GE(plan[0], 16u);
    }
  }
}

TEST(LawExpertTest, CountsPositionsFarFromTheEndFromTheResumePoint) {
  LawExpert expert("law", {.is_pooled = true, .is_from_both_ends = true});
  for (std::uint32_t end = 40; end < 90; ++end) Teach(expert, {.end = end}, 20, 20);
  const Depths plan = expert.Plan(QueryOf({.end = 200}, 1));
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_LE(plan[0], 20u);
  EXPECT_GE(plan[0], 15u);
}

TEST(LawExpertTest, AStateThatIsNotWorthItsPriceIsLeftOut) {
  const LawExpert cheap("law", {});
  const LawExpert dear("law", {.price = 1000});
  EXPECT_EQ(cheap.Plan(QueryOf({.end = 40}, 8)).size(), 8u);
  EXPECT_TRUE(dear.Plan(QueryOf({.end = 40}, 8)).empty());
}

TEST(LawExpertTest, EntriesNobodyComesBackToCount) {
  LawExpert expert("law", {});
  for (int i = 0; i < 500; ++i) expert.Expose({.end = 16});
  EXPECT_LT(expert.Rate({.end = 16}, 16), 0.02);
}

TEST(LawExpertTest, ClaimsThatAStateServedBeforeTeachNothing) {
  LawExpert expert("law", {});
  const EntryShape shape{.end = 30, .resume = 10, .shared = 12};
  const double before = expert.Rate(shape, 30);
  for (int i = 0; i < 1000; ++i) expert.Observe({.entry = shape, .depth = 10});
  EXPECT_DOUBLE_EQ(expert.Rate(shape, 30), before);
}

TEST(LawExpertTest, ABranchPointThatIsClaimedOftenGetsTheState) {
  LawExpert expert("law", {});
  for (int point = 0; point < 50; ++point) {
    for (std::uint32_t k = 0; k < 20; ++k) {
      expert.Observe(
          {.entry = {.end = 30}, .depth = 10, .node_claims = k, .node_parted_before_end = 20});
    }
  }
  PlanQuery query = QueryOf({.end = 30, .shared = 10}, 1);
  query.branches.push_back({.depth = 10, .claims = 2, .parted_before_end = 20});
  EXPECT_EQ(expert.Plan(query), (Depths{10}));
}

TEST(LawExpertTest, HeldStatesAreFree) {
  const LawExpert expert("law", {});
  PlanQuery query = QueryOf({.end = 40}, 1);
  query.held.push_back(40);
  const Depths plan = expert.Plan(query);
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_LT(plan[0], 40u);
}

TEST(LawExpertTest, ANewFamilyStartsFromThePoolAndThenGoesItsOwnWay) {
  LawExpert expert("law", {});
  for (std::uint64_t family = 1; family <= 20; ++family) {
    Teach(expert, {.family = family, .end = 40}, 38, 20);
  }
  EXPECT_EQ(expert.Plan(QueryOf({.family = 99, .end = 40}, 1)), (Depths{38}));
  Teach(expert, {.family = 99, .end = 40}, 10, 100);
  const Depths own = expert.Plan(QueryOf({.family = 99, .end = 40}, 1));
  ASSERT_EQ(own.size(), 1u);
  EXPECT_LE(own[0], 10u);  // so far from the end, a few positions share a rate
  EXPECT_GE(own[0], 6u);
}

TEST(LawExpertTest, OneFamilysFloodDoesNotMoveAnothersPlan) {
  LawExpert expert("law", {});
  Teach(expert, {.family = 1, .end = 40}, 38, 2000);
  const Depths before = expert.Plan(QueryOf({.family = 1, .end = 40}, 2));
  Rng rng(30);
  for (int i = 0; i < 200000; ++i) {
    const EntryShape shape{.family = 2, .end = 40};
    if (i % 3 == 0) expert.Expose(shape);
    expert.Observe({.entry = shape, .depth = 1 + static_cast<std::uint32_t>(rng.Below(20))});
  }
  EXPECT_EQ(expert.Plan(QueryOf({.family = 1, .end = 40}, 2)), before);
}

TEST(LawExpertTest, TheLargestEntryWithTheLargestRatesIsALegalLine) {
  LawExpert expert("law", {});
  for (std::uint32_t k = 0; k < 5000; ++k) {
    expert.Observe({.entry = {.end = 10}, .depth = 10, .node_claims = k});
  }
  PlanQuery query = QueryOf({.end = limits::kEntryPositionsMax}, 2);
  for (std::uint32_t depth = 1; depth <= 1000; ++depth) {
    query.branches.push_back({.depth = depth, .claims = 60, .parted_before_end = 0});
  }
  EXPECT_TRUE(ValidateLine(expert.Line(query)).ok());
  EXPECT_EQ(expert.Plan(query).size(), 2u);
}

TEST(LawExpertTest, SavedLawsPlanAsTheyDid) {
  LawExpert expert("law", {});
  for (std::uint32_t end = 20; end < 60; ++end) Teach(expert, {.family = end, .end = end}, 9, 10);
  ByteWriter out;
  expert.Save(out);
  const std::string bytes = std::move(out).Take();
  LawExpert read("law", {});
  ByteReader in(bytes);
  read.Load(in);
  ASSERT_TRUE(in.at_end());
  for (const std::uint64_t family : {0u, 25u, 1000u}) {
    const PlanQuery query = QueryOf({.family = family, .end = 40}, 3);
    EXPECT_EQ(read.Plan(query), expert.Plan(query));
    EXPECT_EQ(read.Rate(query.shape, 9), expert.Rate(query.shape, 9));
  }
}

TEST(LawExpertTest, HostileBytesAreRefusedOrHarmless) {
  LawExpert expert("law", {});
  for (std::uint64_t family = 1; family < 4; ++family) {
    Teach(expert, {.family = family, .end = 30}, 9, 10);
  }
  ByteWriter out;
  expert.Save(out);
  const std::string bytes = std::move(out).Take();
  Rng rng(7);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = bytes;
    for (int flips = 0; flips < 3; ++flips) {
      bad[rng.Below(bad.size())] = static_cast<char>(rng.Below(256));
    }
    if (i % 2 == 0) bad.resize(rng.Below(bad.size()));
    LawExpert read("law", {});
    ByteReader in(bad);
    read.Load(in);
    EXPECT_FALSE(i % 2 == 0 && in.ok());
    EXPECT_LE(read.Plan(QueryOf({.family = 2, .end = 40}, 3)).size(), 3u);
  }
}

}  // namespace
}  // namespace cairn::placement
