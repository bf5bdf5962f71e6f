#include "libs/device_cuda/step_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr StepLimits kLimits = {.block_tokens = 16, .vocabulary = 100, .positions_max = 1000};

// Blocks of no content: plans look at addresses only.
class StepPlanTest : public testing::Test {
 protected:
  const std::byte* Block(std::size_t i) { return &memory_[i]; }
  std::vector<const std::byte*> Reads(std::vector<std::size_t> indices) {
    std::vector<const std::byte*> blocks;
    for (const std::size_t i : indices) blocks.push_back(Block(i));
    return blocks;
  }
  // Rows [first_row, first_row + rows) of a segment in these blocks.
  StepChunk Chunk(const std::vector<const std::byte*>& own, std::uint32_t first_row,
                  std::uint32_t rows, std::uint64_t position = 0) {
    auto& writes = writes_[chunks_];
    auto& tokens = tokens_[chunks_++];
    for (std::size_t i = first_row / 16; i < own.size(); ++i) {
      writes.push_back(const_cast<std::byte*>(own[i]));
    }
    for (std::uint32_t i = 0; i < rows; ++i) tokens.push_back(10 + i % 80);
    return {.tokens = tokens,
            .position = position + first_row,
            .own = {.position = position, .tokens = first_row + rows, .blocks = own},
            .first_row = first_row,
            .writes = writes};
  }
  StepPlan Plan(const std::vector<StepChunk>& chunks, AttentionWay way = AttentionWay::kSimple) {
    auto plan = PlanStep(chunks, kLimits, {way, 64}, &blocks_);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *std::move(plan);
  }

  DeviceBlocks blocks_{1};

 private:
  std::array<std::byte, 64> memory_{};
  std::array<std::vector<std::byte*>, 16> writes_;
  std::array<std::vector<std::uint32_t>, 16> tokens_;
  std::size_t chunks_ = 0;
};

TEST_F(StepPlanTest, WhatAStepWritesFromItsStartIsNotLoaded) {
  const auto own = Reads({3, 1});
  const StepPlan plan = Plan({Chunk(own, 0, 20)});
  EXPECT_THAT(plan.loads, IsEmpty());
  EXPECT_EQ(blocks_.capacity(), 2u);
  EXPECT_EQ(plan.tokens.size(), 20u);
  EXPECT_EQ(plan.tokens[19], 29u);
  EXPECT_EQ(plan.places[15].slot, blocks_.SlotOf(Block(3)));
  EXPECT_EQ(plan.places[15].token, 15u);
  EXPECT_EQ(plan.places[16].slot, blocks_.SlotOf(Block(1)));
  EXPECT_EQ(plan.places[16].token, 0u);
  EXPECT_EQ(plan.blocks[15], Block(3));
  EXPECT_EQ(plan.blocks[19], Block(1));
}

TEST_F(StepPlanTest, BlocksWithOlderTokensAreLoadedOnce) {
  const auto shared = Reads({5, 6});
  const auto one = Reads({7, 8});
  const auto two = Reads({9});
  const AttendedSegment context{.position = 0, .tokens = 30, .blocks = shared};
  StepChunk first = Chunk(one, 20, 1, 30), second = Chunk(two, 0, 2, 30);
  first.context = second.context = {&context, 1};
  const StepPlan plan = Plan({first, second});
  // 7 and 8 hold 20 older tokens, 9 nothing.
  std::vector<const std::byte*> loaded;
  for (const DeviceBlocks::Load& load : plan.loads) loaded.push_back(load.block);
  EXPECT_THAT(loaded, ElementsAre(Block(5), Block(6), Block(7), Block(8)));
  EXPECT_EQ(plan.places[0].slot, plan.loads[3].slot);
  EXPECT_EQ(plan.places[1].slot, blocks_.SlotOf(Block(9)));
  ASSERT_EQ(plan.tiles.size(), 4u);
  EXPECT_EQ(plan.tiles[0].slots[1], plan.tiles[2].slots[1]);
}

TEST_F(StepPlanTest, ALaterChunkSharesTheSlotsOfAnEarlierOne) {
  const auto early = Reads({2, 4}), late = Reads({2, 4, 6});
  const StepPlan plan = Plan({Chunk(early, 0, 18), Chunk(late, 18, 20)});
  EXPECT_THAT(plan.loads, IsEmpty());
  EXPECT_EQ(blocks_.capacity(), 4u);
  EXPECT_EQ(plan.places[17].slot, plan.places[18].slot);
  EXPECT_EQ(plan.places[18].token, 2u);
}

TEST_F(StepPlanTest, TilesAreCutFromEachSegmentsStart) {
  std::vector<std::size_t> indices(9);
  for (std::size_t i = 0; i < 9; ++i) indices[i] = i;
  const auto long_blocks = Reads(indices);  // 130 tokens: tiles of 64, 64 and 2
  const auto own = Reads({20, 21, 22, 23, 24});
  const AttendedSegment context[] = {{.position = 0, .tokens = 130, .blocks = long_blocks},
                                     {.position = 130, .tokens = 0, .blocks = {}}};
  StepChunk chunk = Chunk(own, 62, 4, 200);
  chunk.context = context;
  chunk.logit_rows = LogitRows::kLast;
  const StepPlan plan = Plan({chunk});
  ASSERT_EQ(plan.tiles.size(), 5u);
  const std::uint32_t tokens[] = {64, 64, 2, 64, 2}, positions[] = {0, 64, 128, 200, 264};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(plan.tiles[i].tokens, tokens[i]) << i;
    EXPECT_EQ(plan.tiles[i].position, positions[i]) << i;
  }
  EXPECT_EQ(plan.tiles[1].slots[3], blocks_.SlotOf(Block(7)));
  const kernels::AttendRow rows[] = {
      {0, 4, 63, 262}, {0, 4, 64, 263}, {0, 5, 1, 264}, {0, 5, 2, 265}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(plan.rows[i].first_tile, rows[i].first_tile) << i;
    EXPECT_EQ(plan.rows[i].tile_count, rows[i].tile_count) << i;
    EXPECT_EQ(plan.rows[i].last_tokens, rows[i].last_tokens) << i;
    EXPECT_EQ(plan.rows[i].position, rows[i].position) << i;
  }
  EXPECT_THAT(plan.logit_rows, ElementsAre(3u));
}

TEST_F(StepPlanTest, LogitRowsAreCountedOverTheWholeStep) {
  const auto one = Reads({0}), two = Reads({1}), three = Reads({2});
  StepChunk all = Chunk(one, 0, 3), none = Chunk(two, 0, 2), last = Chunk(three, 0, 2);
  all.logit_rows = LogitRows::kAll;
  last.logit_rows = LogitRows::kLast;
  const StepPlan plan = Plan({all, none, last});
  EXPECT_THAT(plan.logit_rows, ElementsAre(0u, 1u, 2u, 6u));
  EXPECT_EQ(plan.rows[5].first_tile, 2u);
}

// Two requests that found the same slot, one before the node refilled it and one after: the second
// must not get what the first has left on the device.
TEST_F(StepPlanTest, OfTwoVersionsOfABlockTheHigherIsWhatIsThere) {
  const auto arena = Reads({40});
  const std::uint64_t old_version = 3, new_version = 4, none = 0;
  blocks_.UseArena({{Block(40), 1}});
  const auto one = Reads({0}), two = Reads({1});
  const auto chunks_of = [&](const std::uint64_t& a, const std::uint64_t& b) {
    std::vector<StepChunk> chunks = {Chunk(one, 0, 1, 16), Chunk(two, 0, 1, 16)};
    return std::make_pair(
        std::move(chunks),
        std::array<AttendedSegment, 2>{
            {{.position = 0, .tokens = 16, .blocks = arena, .versions = {&a, 1}},
             {.position = 0, .tokens = 16, .blocks = arena, .versions = {&b, 1}}}});
  };
  const auto loads = [&](const std::uint64_t& a, const std::uint64_t& b) {
    auto [chunks, contexts] = chunks_of(a, b);
    for (int i = 0; i < 2; ++i) chunks[i].context = {&contexts[i], 1};
    return Plan(chunks).loads.size();
  };
  blocks_.Reserve(8);
  EXPECT_EQ(loads(old_version, old_version), 1u);
  EXPECT_EQ(loads(new_version, old_version), 1u);
  EXPECT_EQ(loads(new_version, old_version), 0u);
  EXPECT_EQ(loads(old_version, new_version), 0u);
  EXPECT_EQ(loads(old_version, none), 1u);
  EXPECT_EQ(loads(none, old_version), 1u);
}

TEST_F(StepPlanTest, RowsOfWhichOnlyTheTokenIsWantedComeLast) {
  const auto one = Reads({0}), two = Reads({1}), three = Reads({2});
  StepChunk token = Chunk(one, 0, 3), logits = Chunk(two, 0, 2), other = Chunk(three, 0, 12);
  token.logit_rows = other.logit_rows = LogitRows::kLastToken;
  logits.logit_rows = LogitRows::kLast;
  const StepPlan plan = Plan({token, logits, other}, AttentionWay::kTilesInPlace);
  EXPECT_THAT(plan.logit_rows, ElementsAre(4u, 2u, 16u));
  EXPECT_EQ(plan.token_rows, 2u);
}

TEST_F(StepPlanTest, TheSimpleWayPlansNeitherDecodingNorQueryTiles) {
  const auto own = Reads({0});
  const StepPlan plan = Plan({Chunk(own, 0, 1), Chunk(own, 0, 9)});
  EXPECT_THAT(plan.decode.items, IsEmpty());
  EXPECT_THAT(plan.decode.first_items, IsEmpty());
  EXPECT_THAT(plan.query_tiles, IsEmpty());
  EXPECT_EQ(plan.rotated_tiles, plan.tiles.size());
}

// Two long chunks, of which one has more rows than a query tile, and two short ones around them.
TEST_F(StepPlanTest, ShortChunksRowsComeFirstAndTheirTilesLast) {
  const auto context_blocks = Reads({0, 1, 2, 3, 4});
  const AttendedSegment context{.position = 0, .tokens = 70, .blocks = context_blocks};
  const auto a = Reads({5}), b = Reads({6, 7, 8, 9, 10}), c = Reads({11}), d = Reads({12});
  StepChunk first = Chunk(a, 3, 1, 70), second = Chunk(b, 0, 66, 70), third = Chunk(c, 2, 8),
            fourth = Chunk(d, 0, 9);
  first.context = second.context = {&context, 1};
  for (StepChunk* chunk : {&first, &second, &third}) chunk->logit_rows = LogitRows::kLast;
  fourth.logit_rows = LogitRows::kAll;
  for (const AttentionWay way : {AttentionWay::kTilesInPlace, AttentionWay::kTilesScratch}) {
    const StepPlan plan = Plan({first, second, third, fourth}, way);
    ASSERT_EQ(plan.rows.size(), 84u);
    // Tiles: of the second (2 of its context, 2 of its own), the fourth, the first, the third.
    ASSERT_EQ(plan.tiles.size(), 9u);
    EXPECT_EQ(plan.rotated_tiles, way == AttentionWay::kTilesInPlace ? 5u : 9u);
    EXPECT_EQ(plan.tiles[4].slots[0], blocks_.SlotOf(Block(12)));
    EXPECT_EQ(plan.tiles[7].slots[0], blocks_.SlotOf(Block(5)));
    EXPECT_EQ(plan.tiles[8].slots[0], blocks_.SlotOf(Block(11)));
    // Rows: one of the first, eight of the third, 66 of the second, nine of the fourth.
    EXPECT_EQ(plan.rows[0].first_tile, 5u);
    EXPECT_EQ(plan.rows[0].position, 73u);
    EXPECT_EQ(plan.rows[1].first_tile, 8u);
    EXPECT_EQ(plan.rows[8].last_tokens, 10u);
    EXPECT_EQ(plan.rows[9].first_tile, 0u);
    EXPECT_EQ(plan.rows[75].first_tile, 4u);
    EXPECT_EQ(plan.tokens[9], 10u);
    EXPECT_EQ(plan.blocks[1], Block(11));
    // Logits: in the order of the chunks.
    std::vector<std::uint32_t> wanted = {0, 74, 8};
    for (std::uint32_t row = 75; row < 84; ++row) wanted.push_back(row);
    EXPECT_EQ(plan.logit_rows, wanted);
    // One item a decoding row, since none has more than four tiles.
    EXPECT_EQ(plan.decode.first_items.size(), 9u);
    ASSERT_EQ(plan.decode.items.size(), 9u);
    EXPECT_EQ(plan.decode.items[0].tile_count, 3u);
    EXPECT_EQ(plan.decode.items[0].position, 73u);
    EXPECT_EQ(plan.decode.items[8].row, 8u);
    // Query tiles: 64 and 2 rows of the second, 9 of the fourth.
    ASSERT_EQ(plan.query_tiles.size(), 3u);
    const std::uint32_t firsts[] = {9, 73, 75}, counts[] = {64, 2, 9};
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(plan.query_tiles[i].first_row, firsts[i]) << i;
      EXPECT_EQ(plan.query_tiles[i].row_count, counts[i]) << i;
    }
  }
}

// There a prompt's rows have other bits than decoding's: who they are decides, not how many.
TEST_F(StepPlanTest, ByWgmmaOnlySampledTokensAreDecoded) {
  const auto a = Reads({0}), b = Reads({1, 2, 3, 4, 5, 6, 7, 8, 9}), c = Reads({10});
  StepChunk prompt = Chunk(a, 3, 1), long_prompt = Chunk(b, 0, 130), sampled = Chunk(c, 5, 1);
  sampled.is_generated = true;
  const StepPlan plan = Plan({prompt, long_prompt, sampled}, AttentionWay::kTilesWgmma);
  EXPECT_EQ(plan.decode.first_items.size(), 1u);
  EXPECT_EQ(plan.blocks[0], Block(10));
  EXPECT_EQ(plan.rotated_tiles, 4u);
  EXPECT_EQ(plan.tiles.size(), 5u);
  ASSERT_EQ(plan.query_tiles.size(), 3u);
  const std::uint32_t counts[] = {1, 128, 2};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(plan.query_tiles[i].row_count, counts[i]) << i;
}

TEST_F(StepPlanTest, ABrokenChunkIsNamed) {
  const auto own = Reads({0});
  StepChunk right = Chunk(own, 0, 2), wrong = Chunk(own, 0, 2);
  wrong.first_row = 1;
  const absl::Status status = PlanStep({right, wrong}, kLimits, {}, &blocks_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("chunk 1: rows and own segment disagree"),
            absl::string_view::npos)
      << status;
}

}  // namespace
}  // namespace cairn
