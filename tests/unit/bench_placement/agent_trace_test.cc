#include "tools/bench/placement/agent_trace.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "libs/gguf/gguf_writer.h"
#include "tests/support/small_vocabulary.h"
#include "tests/unit/bench_placement/written_file.h"

namespace cairn::bench {
namespace {

absl::StatusOr<ReplayTrace> Read(const std::string& path, const AgentTraceOptions& options) {
  return ReadAgentTrace(path, options, [](double) { return true; });
}

TEST(WordTokensTest, AreWordsWithTheSpaceBeforeThem) {
  const std::vector<std::uint32_t> tokens = WordTokens("one two  one\n");
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_NE(tokens[0], tokens[2]);  // "one" and "  one"
  EXPECT_EQ(WordTokens("one two")[1], tokens[1]);
  EXPECT_TRUE(WordTokens("").empty());
}

TEST(BlocksOfTest, EqualPrefixesAreEqualBlocks) {
  PrefixNames names;
  const placement::TraceRequest a = BlocksOf({1, 2, 3, 4, 5}, 2, names);
  const placement::TraceRequest b = BlocksOf({1, 2, 3, 4, 6, 7}, 2, names);
  const placement::TraceRequest c = BlocksOf({3, 4, 3, 4}, 2, names);
  EXPECT_EQ(a.full_blocks, 2u);
  ASSERT_EQ(a.blocks.size(), 3u);
  EXPECT_EQ(b.full_blocks, 3u);
  EXPECT_EQ(b.blocks[1], a.blocks[1]);
  EXPECT_NE(b.blocks[2], a.blocks[2]);
  EXPECT_NE(c.blocks[0], a.blocks[1]);  // the same tokens after another prefix
  EXPECT_NE(c.blocks[1], a.blocks[1]);
}

TEST(AgentTraceTest, PromptsBecomeBlocksAndEmptyOnesAreLeftOut) {
  const WrittenFolder folder;
  const std::string path = folder.Write("run.jsonl",
                                        "{\"session_id\": \"x\", \"input\": \"a b c d e\"}\n"
                                        "{\"input\": \"\"}\n"
                                        "{\"input\": \"a b c d e f g\"}\n");
  const ReplayTrace trace = Read(path, {.block_tokens = 2, .requests_max = 10}).value();
  ASSERT_EQ(trace.requests.size(), 2u);
  EXPECT_EQ(UsableDepths(trace.requests), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(trace.note, "tokens: words (no --model); 1 calls without a prompt left out");
}

TEST(AgentTraceTest, UsesAModelsTokenizerWhereThereIsOne) {
  const WrittenFolder folder;
  GgufWriter writer;
  SmallVocabulary().WriteTo(writer);
  const std::string model = folder.Write("model.gguf", std::move(writer).Finish());
  const std::string path = folder.Write("run.jsonl", "{\"input\": \"abcdef\"}\n");
  const ReplayTrace trace =
      Read(path, {.model = model, .block_tokens = 4, .requests_max = 10}).value();
  ASSERT_EQ(trace.requests.size(), 1u);
  EXPECT_EQ(trace.requests[0].blocks.size(), 2u);  // six tokens, a byte each
  EXPECT_EQ(trace.requests[0].full_blocks, 1u);
  EXPECT_TRUE(absl::StrContains(trace.note, model)) << trace.note;
}

TEST(AgentTraceTest, BadFilesAreRefusedByName) {
  const WrittenFolder folder;
  const std::string path = folder.Write("run.jsonl", "{\"input\": [\"a\"]}\n");
  const AgentTraceOptions options{.requests_max = 10};
  EXPECT_TRUE(absl::StrContains(Read(path, options).status().message(), "run.jsonl:1: input: "));
  EXPECT_FALSE(Read(folder.Write("none.jsonl", "{\"input\": \"\"}\n"), options).ok());
  const absl::Status status = Read(path, {.model = path, .requests_max = 10}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StartsWith(status.message(), "--model: " + path)) << status;
}

}  // namespace
}  // namespace cairn::bench
