#include "libs/placement/arrival.h"

#include <gtest/gtest.h>

namespace cairn::placement {
namespace {

using Depths = std::vector<std::uint32_t>;

TEST(ArrivalTest, APlanGivesTheStatesThatAreNewAndOfTooManyTheDeepest) {
  EntryTree tree;
  const Arrival first{.length = 10, .end = 8, .states_max = 3};
  const EntryTree::Entry entry = tree.Add({}, 0, first.length);
  EXPECT_EQ(PutPlan(tree, 0, entry, QueryIn(tree, 0, first), {9, 4, 7, 6, 8, 5}),
            (Depths{6, 7, 8}));
  const Arrival second{
      .matched = entry, .agreed = 7, .shared = 7, .length = 9, .end = 9, .states_max = 5};
  const PlanQuery query = QueryIn(tree, 0, second);
  const EntryTree::Entry other = tree.Add(entry, 7, 9);
  EXPECT_EQ(PutPlan(tree, 0, other, query, {9, 8, 7, 3}), (Depths{8, 9}));
  EXPECT_TRUE(PutPlan(tree, 0, other, query, {9, 8}).empty());  // they are there
}

TEST(ArrivalTest, AQueryShowsWhatTheRequestMeetsInItsWorld) {
  EntryTree tree;
  const EntryTree::Entry entry = tree.Add({}, 0, 20);
  for (const std::uint32_t depth : {4u, 12u, 15u}) tree.Put(1, entry, depth);
  tree.Put(0, entry, 9);
  tree.AddClaim(entry, 3, 5);
  tree.AddClaim(entry, 7, 2);
  const Arrival arrival{.family = 6,
                        .matched = entry,
                        .agreed = 14,
                        .shared = 10,
                        .length = 30,
                        .end = 29,
                        .states_max = 2};
  const PlanQuery query = QueryIn(tree, 1, arrival);
  EXPECT_EQ(query.shape.family, 6u);
  EXPECT_EQ(query.shape.end, 29u);
  EXPECT_EQ(query.shape.shared, 10u);
  EXPECT_EQ(query.shape.resume, 4u);
  EXPECT_EQ(query.held, (Depths{12}));  // within what agrees, below the resume point
  ASSERT_EQ(query.branches.size(), 1u);
  EXPECT_EQ(query.branches[0].depth, 7u);
  EXPECT_EQ(QueryIn(tree, 0, arrival).shape.resume, 9u);
  EXPECT_EQ(QueryIn(tree, 1, {.length = 30, .end = 29}).shape.resume, 0u);
}

}  // namespace
}  // namespace cairn::placement
