#include "tools/bench/placement/fifo_world.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::bench {
namespace {

using Depths = std::vector<std::uint32_t>;

LogRequest Request(std::uint32_t length, std::uint32_t match) {
  return {.conversation = "c", .length = length, .match = match, .positions = {}, .entries = 0};
}

// Looks up, puts states at `plan` and returns where it resumed.
std::uint32_t Send(FifoWorld& world, const LogRequest& request, const Depths& plan,
                   std::uint64_t family = 1, std::uint32_t states_max = 8) {
  FifoWorld::Look look = world.LookUp(request, family);
  look.query.states_max = states_max;
  world.Store(request, look, plan);
  return look.query.shape.resume;
}

TEST(FifoWorldTest, ARequestResumesAtTheDeepestStateAtOrAboveItsMatch) {
  FifoWorld world(10);
  EXPECT_EQ(Send(world, Request(1000, 0), {3, 7, 12}), 0u);
  EXPECT_EQ(Send(world, Request(1000, 7 * 64 + 63), {}), 7u);
  EXPECT_EQ(Send(world, Request(1000, 7 * 64 - 1), {}), 3u);
  EXPECT_EQ(Send(world, Request(1000, 100), {}), 0u);
  EXPECT_EQ(Send(world, Request(1000, 1000), {}, 2), 0u);     // another conversation
  EXPECT_EQ(Send(world, Request(12 * 64, 12 * 64), {}), 7u);  // the last token always runs
  EXPECT_EQ(Send(world, Request(12 * 64 + 1, 12 * 64 + 1), {}), 12u);
}

TEST(FifoWorldTest, EntriesLeaveInTheOrderInWhichTheyCame) {
  FifoWorld world(2);
  Send(world, Request(1000, 0), {5});
  Send(world, Request(1000, 0), {}, 2);
  EXPECT_EQ(world.LookUp(Request(1000, 600), 1).query.shape.resume, 5u);
  Send(world, Request(1000, 0), {}, 3);
  EXPECT_EQ(world.LookUp(Request(1000, 600), 1).query.shape.resume, 0u);
}

TEST(FifoWorldTest, AStateLivesAsLongAsAnEntryThroughIt) {
  FifoWorld world(2);
  Send(world, Request(1000, 0), {5, 9});
  EXPECT_EQ(Send(world, Request(1000, 6 * 64), {}), 5u);  // holds 5 now, and not 9
  Send(world, Request(1000, 0), {}, 2);                   // the first one leaves
  EXPECT_EQ(world.LookUp(Request(1000, 900), 1).query.shape.resume, 5u);
}

TEST(FifoWorldTest, PutsOnlyWhatTheRequestCanTake) {
  FifoWorld world(10);
  Send(world, Request(1000, 0), {4});
  FifoWorld::Look look = world.LookUp(Request(1000, 640), 1);
  look.query.states_max = 2;
  // 4 and above lie at or above the resume point, 16 behind the end; of the rest the deepest two.
  EXPECT_EQ(world.Store(Request(1000, 640), look, {1, 4, 6, 9, 9, 12, 16}), 2u);
  EXPECT_EQ(world.LookUp(Request(1000, 999), 1).query.shape.resume, 12u);
  EXPECT_EQ(world.LookUp(Request(1000, 11 * 64), 1).query.shape.resume, 9u);
  EXPECT_EQ(world.LookUp(Request(1000, 8 * 64), 1).query.shape.resume, 4u);
}

TEST(FifoWorldTest, TellsWhatTheRequestMet) {
  FifoWorld world(10);
  EXPECT_FALSE(world.LookUp(Request(1000, 640), 1).matched.has_value());  // nothing is live
  Send(world, Request(2000, 0), {});
  Send(world, Request(300, 100), {});
  FifoWorld::Look look = world.LookUp(Request(1000, 640), 1);
  ASSERT_TRUE(look.matched.has_value());
  EXPECT_EQ(look.matched->request, 0u);  // the later one is too short for this match
  EXPECT_EQ(look.query.shape.shared, 10u);
  EXPECT_EQ(look.query.shape.end, 15u);
  EXPECT_EQ(look.node_claims, 0u);
  EXPECT_EQ(look.node_parted_before_end, 2000u / 64 - 10);
  ASSERT_EQ(look.query.branches.size(), 2u);  // where the second one parted, and here
  EXPECT_EQ(look.query.branches[0].depth, 1u);
  EXPECT_EQ(look.query.branches[0].claims, 1u);
  EXPECT_EQ(look.query.branches[1].depth, 10u);
  EXPECT_FALSE(world.LookUp(Request(1000, 63), 1).matched.has_value());
}

}  // namespace
}  // namespace cairn::bench
