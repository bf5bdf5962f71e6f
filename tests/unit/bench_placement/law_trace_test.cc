#include "tools/bench/placement/law_trace.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "absl/strings/match.h"

namespace cairn::bench {
namespace {

ReplayTrace Make(absl::string_view law, std::uint64_t seed = 1) {
  return MakeLawTrace({.law = std::string(law), .requests = 600, .block_tokens = 64, .seed = seed})
      .value();
}

TEST(LawTraceTest, EveryLawIsReproducibleAndIsMet) {
  for (const Law& law : Laws()) {
    SCOPED_TRACE(std::string(law.name));
    const ReplayTrace trace = Make(law.name);
    ASSERT_EQ(trace.requests.size(), 600u);
    const ReplayTrace again = Make(law.name);
    const ReplayTrace other = Make(law.name, 2);
    bool differs = false;
    for (std::size_t i = 0; i < trace.requests.size(); ++i) {
      EXPECT_EQ(trace.requests[i].blocks, again.requests[i].blocks);
      EXPECT_EQ(trace.requests[i].full_blocks + 1, trace.requests[i].blocks.size());
      differs |= trace.requests[i].blocks != other.requests[i].blocks;
    }
    EXPECT_TRUE(differs);
    const std::vector<std::uint32_t> usable = UsableDepths(trace.requests);
    EXPECT_GT(std::accumulate(usable.begin(), usable.end(), 0u), 600u);
  }
}

TEST(LawTraceTest, SessionsAreMetWhole) {
  const ReplayTrace trace = Make("sessions");
  const std::vector<std::uint32_t> usable = UsableDepths(trace.requests);
  std::size_t whole = 0;
  std::vector<bool> is_end(100'000, false);
  for (std::size_t i = 0; i < trace.requests.size(); ++i) {
    const placement::TraceRequest& request = trace.requests[i];
    if (usable[i] > 0) {
      ASSERT_TRUE(is_end[request.blocks[usable[i] - 1]]) << i;
      ++whole;
    }
    is_end[request.blocks[request.full_blocks - 1]] = true;
  }
  EXPECT_GT(whole, 400u);
}

TEST(LawTraceTest, TheJumpMovesWhereRequestsPart) {
  const ReplayTrace trace = Make("jump");
  const std::vector<std::uint32_t> usable = UsableDepths(trace.requests);
  double before = 0;
  double after = 0;
  for (std::size_t i = 150; i < 300; ++i) before += usable[i];
  for (std::size_t i = 450; i < 600; ++i) after += usable[i];
  EXPECT_GT(after, 2 * before);
}

TEST(LawTraceTest, AnUnknownLawNamesThoseThereAre) {
  const absl::Status status = MakeLawTrace({.law = "gravity", .requests = 1}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  for (const Law& law : Laws()) EXPECT_TRUE(absl::StrContains(status.message(), law.name));
}

}  // namespace
}  // namespace cairn::bench
