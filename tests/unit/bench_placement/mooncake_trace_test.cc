#include "tools/bench/placement/mooncake_trace.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "tests/unit/bench_placement/written_file.h"

namespace cairn::bench {
namespace {

using Blocks = std::vector<std::uint64_t>;

absl::StatusOr<ReplayTrace> Read(const WrittenFolder& folder, const std::string& text,
                                 std::size_t requests_max = 100) {
  return ReadMooncakeTrace(folder.Write("trace.jsonl", text), requests_max,
                           [](double) { return true; });
}

TEST(MooncakeTraceTest, NamesBlocksByPrefix) {
  const WrittenFolder folder;
  const ReplayTrace trace =
      Read(folder,
           "{\"timestamp\": 0, \"input_length\": 1100, \"output_length\": 5, \"hash_ids\": [7, 9, "
           "4]}\n"
           "{\"input_length\": 1535, \"hash_ids\": [7, 9, 18446744073709551615]}\n"
           "{\"input_length\": 512, \"hash_ids\": [7]}\n")
          .value();
  EXPECT_EQ(trace.block_tokens, 512u);
  ASSERT_EQ(trace.requests.size(), 3u);
  EXPECT_EQ(trace.requests[0].blocks, (Blocks{1, 2, 3}));
  EXPECT_EQ(trace.requests[0].full_blocks, 2u);
  EXPECT_EQ(trace.requests[1].blocks, (Blocks{1, 2, 4}));
  EXPECT_EQ(trace.requests[1].full_blocks, 2u);
  EXPECT_EQ(trace.requests[2].full_blocks, 1u);
  EXPECT_EQ(UsableDepths(trace.requests), (std::vector<std::uint32_t>{0, 2, 0}));
}

TEST(MooncakeTraceTest, AnIdAfterAnotherPrefixIsAnotherBlock) {
  const WrittenFolder folder;
  const ReplayTrace trace = Read(folder,
                                 "{\"input_length\": 1024, \"hash_ids\": [1, 2]}\n"
                                 "{\"input_length\": 1536, \"hash_ids\": [3, 2, 2]}\n")
                                .value();
  EXPECT_EQ(trace.requests[1].blocks, (Blocks{3, 4, 5}));
}

TEST(MooncakeTraceTest, ReadsTheFirstRequestsOnly) {
  const WrittenFolder folder;
  const std::string line = "{\"input_length\": 600, \"hash_ids\": [1, 2]}\n";
  EXPECT_EQ(Read(folder, line + line + "no JSON", 2)->requests.size(), 2u);
}

TEST(MooncakeTraceTest, WhatNoTraceHoldsIsRefusedByFileAndLine) {
  const WrittenFolder folder;
  const std::string good = "{\"input_length\": 600, \"hash_ids\": [1, 2]}\n";
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"{\"hash_ids\": [1]}", "input_length: missing"},
      {"{\"input_length\": 600}", "hash_ids: missing"},
      {"{\"input_length\": \"600\", \"hash_ids\": [1]}", "input_length: "},
      {"{\"input_length\": 99999999999, \"hash_ids\": [1]}", "input_length: "},
      {"{\"input_length\": -1, \"hash_ids\": [1]}", "input_length: "},
      {"{\"input_length\": 600, \"hash_ids\": []}", "hash_ids: "},
      {"{\"input_length\": 600, \"hash_ids\": {}}", "hash_ids: "},
      {"{\"input_length\": 600, \"hash_ids\": [1, null]}", "hash_ids[1]: "},
      {"{\"input_length\": 1600, \"hash_ids\": [1, 2]}", "hash_ids: 2 of them"},
  };
  for (const auto& [text, what] : bad) {
    const absl::Status status = Read(folder, good + text + "\n").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_TRUE(absl::StrContains(status.message(), "/trace.jsonl:2: " + what)) << status;
  }
  EXPECT_TRUE(absl::StrContains(Read(folder, "\n").status().message(), "no request"));
}

TEST(MooncakeTraceTest, StopsWhenToldTo) {
  const WrittenFolder folder;
  const std::string path =
      folder.Write("trace.jsonl", "{\"input_length\": 600, \"hash_ids\": [1, 2]}\n");
  EXPECT_EQ(ReadMooncakeTrace(path, 5, [](double) { return false; }).status().code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace cairn::bench
