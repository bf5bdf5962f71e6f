#include "tools/bench/placement/service_replay.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::bench {
namespace {

bool GoOn(std::size_t) { return true; }

// Sessions of two requests, the second one going on from the end of the first one's full blocks.
std::vector<placement::TraceRequest> Sessions(int sessions) {
  std::vector<placement::TraceRequest> trace;
  std::uint64_t name = 1;
  for (int session = 0; session < sessions; ++session) {
    placement::TraceRequest first;
    for (int i = 0; i < 20; ++i) first.blocks.push_back(name++);
    first.full_blocks = 19;
    placement::TraceRequest second = first;
    second.blocks.back() = name++;
    second.blocks.push_back(name++);
    second.full_blocks = 20;
    trace.push_back(first);
    trace.push_back(second);
  }
  return trace;
}

TEST(ServiceReplayTest, ThePlannerFindsTheLawWithAllObservationsAndWithARunInSixteen) {
  const std::vector<placement::TraceRequest> trace = Sessions(1000);
  for (const std::uint32_t thinning : {1u, 16u}) {
    const placement::ReplayLine line = ReplayService(trace, 1, thinning, GoOn).value();
    EXPECT_EQ(line.requests, 2000u);
    EXPECT_EQ(line.ceiling, 1000u * 19);
    EXPECT_GT(line.Share(), 0.9) << thinning;
    EXPECT_LE(line.StatesPerRequest(), 1) << thinning;
  }
}

TEST(ServiceReplayTest, StopsWhenToldToAndNamesARequestThatIsRefused) {
  std::vector<placement::TraceRequest> trace = Sessions(5);
  EXPECT_EQ(ReplayService(trace, 1, 1, [](std::size_t done) { return done < 3; }).status().code(),
            absl::StatusCode::kCancelled);
  trace[4].blocks.clear();
  trace[4].full_blocks = 0;
  const absl::Status status = ReplayService(trace, 1, 1, GoOn).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("request 4"), std::string::npos) << status;
}

}  // namespace
}  // namespace cairn::bench
