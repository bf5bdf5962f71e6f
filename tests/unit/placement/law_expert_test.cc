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
    expert.Expose(shape, 1);
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

// What new states at `depths` save in the problem, or -1: they cannot stand there.
std::int64_t SavedBy(const LineProblem& line, const Depths& depths) {
  const auto all = LineCost(line, {});
  const auto rest = LineCost(line, depths);
  return all.ok() && rest.ok() ? *all - *rest : -1;
}

// A law with claims near the end, in the middle and near the start, and all that a query can have.
PlanQuery TeachAndAsk(LawExpert& expert, Rng& rng) {
  for (int i = 0; i < 300; ++i) {
    const auto end = 20 + static_cast<std::uint32_t>(rng.Below(600));
    const EntryShape shape{.end = end};
    expert.Expose(shape, 1);
    const std::uint32_t back = static_cast<std::uint32_t>(rng.Below(rng.Chance(1, 2) ? 10 : end));
    expert.Observe({.entry = shape, .depth = end - back});
  }
  PlanQuery query = QueryOf({.end = 100 + static_cast<std::uint32_t>(rng.Below(900))}, 4);
  query.shape.resume = static_cast<std::uint32_t>(rng.Below(50));
  query.shape.shared = query.shape.resume + 40;
  for (std::uint32_t depth = query.shape.resume; depth + 1 < query.shape.end;) {
    depth += 1 + static_cast<std::uint32_t>(rng.Below(120));
    if (depth > query.shape.end) break;
    if (depth <= query.shape.shared) {
      query.branches.push_back({.depth = depth, .claims = 2, .parted_before_end = 9});
    } else if (rng.Chance(1, 3)) {
      query.held.push_back(depth);
    }
  }
  return query;
}

TEST(LawExpertTest, StatesThatTheCoarseLineKnowsSaveInItWhatTheyReallySave) {
  Rng rng(70);
  double saved = 0;
  double saved_exactly = 0;
  for (int round = 0; round < 200; ++round) {
    LawExpert expert("law", {.is_pooled = true, .is_from_both_ends = round % 2 == 0});
    const PlanQuery query = TeachAndAsk(expert, rng);
    const LineProblem fine = expert.Line(query);
    const LineProblem coarse = expert.CoarseLine(query);
    ASSERT_TRUE(ValidateLine(coarse).ok());
    EXPECT_LT(coarse.atoms.size(), 70u);
    for (const BranchPoint& branch : query.branches) {
      EXPECT_GE(SavedBy(coarse, {branch.depth}), 0) << "no atom at a branch point";
    }
    const Depths sketch = expert.Sketch(query);
    const auto exact = static_cast<double>(SavedBy(fine, sketch));
    // Rounding of weights, and the prior, which falls within a stretch.
    EXPECT_NEAR(static_cast<double>(SavedBy(coarse, sketch)), exact, 0.001 * exact + 2000)
        << "round " << round;
    const auto best = static_cast<double>(SavedBy(fine, expert.Plan(query)));
    EXPECT_GE(exact, 0.8 * best) << "round " << round;
    saved += exact / best;
    saved_exactly += 1;
  }
  EXPECT_GE(saved, 0.98 * saved_exactly);
}

TEST(LawExpertTest, ShortEntriesAreSketchedExactly) {
  LawExpert expert("law", {});
  for (std::uint32_t end = 1; end <= 8; ++end) Teach(expert, {.end = end}, (end + 1) / 2, 5);
  for (std::uint32_t end = 0; end <= 8; ++end) {
    for (std::uint32_t states = 0; states < 4; ++states) {
      const PlanQuery query = QueryOf({.end = end}, states);
      EXPECT_EQ(expert.Sketch(query), expert.Plan(query)) << end << " " << states;
    }
  }
}

TEST(LawExpertTest, WhatWeighsSeveralTeachesAsSeveral) {
  LawExpert one("law", {});
  LawExpert each("law", {});
  const EntryShape shape{.family = 3, .end = 30};
  one.Expose(shape, 5);
  one.Observe({.entry = shape, .depth = 20, .weight = 3});
  for (int i = 0; i < 5; ++i) each.Expose(shape, 1);
  for (int i = 0; i < 3; ++i) each.Observe({.entry = shape, .depth = 20});
  for (std::uint32_t depth = 1; depth <= 30; ++depth) {
    EXPECT_DOUBLE_EQ(one.Rate(shape, depth), each.Rate(shape, depth)) << depth;
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
  for (int i = 0; i < 500; ++i) expert.Expose({.end = 16}, 1);
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
    if (i % 3 == 0) expert.Expose(shape, 1);
    expert.Observe({.entry = shape, .depth = 1 + static_cast<std::uint32_t>(rng.Below(20))});
  }
  EXPECT_EQ(expert.Plan(QueryOf({.family = 1, .end = 40}, 2)), before);
}

TEST(LawExpertTest, AnEstablishedFamilyAsksNobodyElseNotEvenOfClassesThatItDoesNotHave) {
  LawExpert expert("law", {});
  Teach(expert, {.family = 1, .end = 40}, 38, 300);
  const EntryShape other_class{.family = 1, .end = 200, .resume = 20, .shared = 60};
  const double before = expert.Rate(other_class, 198);
  for (std::uint64_t family = 2; family < 60; ++family) {
    Teach(expert, {.family = family, .end = 200, .resume = 20, .shared = 60}, 100, 50);
  }
  EXPECT_EQ(expert.Rate(other_class, 198), before);
  EXPECT_NE(expert.Rate({.family = 99, .end = 200, .resume = 20, .shared = 60}, 198), before);
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
