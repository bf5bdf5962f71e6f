#include "libs/placement/trace_world.h"

#include <gtest/gtest.h>

namespace cairn::placement {
namespace {

std::size_t Pass(TraceWorld& world, const TraceRequest& request, std::vector<std::uint32_t> plan) {
  const Arrival arrival = world.Look(request, 2);
  const PlanQuery query = world.Meet(arrival);
  return world.Store(request, arrival, query, std::move(plan));
}

TEST(TraceWorldTest, ARequestMeetsTheLatestOneThroughItsLastSeenBlockAndItsRealStates) {
  TraceWorld world;
  EXPECT_FALSE(world.Look({.blocks = {1, 2, 3}, .full_blocks = 3}, 2).matched.has_value());
  EXPECT_EQ(Pass(world, {.blocks = {1, 2, 3, 4}, .full_blocks = 3}, {2, 3, 4}), 2u);
  EXPECT_EQ(Pass(world, {.blocks = {1, 2, 5}, .full_blocks = 2}, {}), 0u);
  const TraceRequest request{.blocks = {1, 2, 3, 6, 7}, .full_blocks = 5};
  const Arrival arrival = world.Look(request, 2);
  EXPECT_EQ(arrival.matched, 0u);  // the second one has no block 3
  EXPECT_EQ(arrival.agreed, 3u);
  EXPECT_EQ(arrival.shared, 3u);
  EXPECT_EQ(world.LengthOf(0), 4u);
  EXPECT_EQ(world.EndOf(0), 3u);
  EXPECT_EQ(world.Meet(arrival).shape.resume, 3u);
  EXPECT_EQ(world.Look({.blocks = {1, 2, 9}, .full_blocks = 3}, 2).matched, 1u);
}

TEST(TraceWorldTest, TheLastBlockAlwaysRuns) {
  TraceWorld world;
  Pass(world, {.blocks = {1, 2, 3}, .full_blocks = 3}, {3});
  const Arrival arrival = world.Look({.blocks = {1, 2, 3}, .full_blocks = 3}, 2);
  EXPECT_EQ(arrival.agreed, 3u);
  EXPECT_EQ(arrival.shared, 2u);
  const PlanQuery query = world.Meet(arrival);
  EXPECT_EQ(query.shape.resume, 0u);
  EXPECT_EQ(query.held, (std::vector<std::uint32_t>{3}));
  ASSERT_EQ(query.branches.size(), 1u);  // the claim that was just made
  EXPECT_EQ(query.branches[0].depth, 2u);
}

}  // namespace
}  // namespace cairn::placement
