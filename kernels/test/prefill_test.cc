#include "kernels/attention/prefill.h"

#include <algorithm>
#include <string>

#include "kernels/test/attention_checks.h"

namespace cairn::test {
namespace {

using kernels::PrefillParams;
using kernels::QueryTile;
using kernels::RotaryPairs;

SK_TEST(RowsPrefillAsInDouble) {
  for (const AttentionShape& shape : kPrefillShapes) {
    ExpectWorldAsInDouble(shape, 7, Way::kPrefill);
  }
}

// A list of segments of any lengths, rows anywhere in it, as one tile of queries after the other.
World RandomPlan(const AttentionShape& shape, std::uint64_t seed) {
  World world(shape, seed);
  sk::emu::Random random(seed * 977 + 1);
  const std::uint32_t slots_tokens = World::kSlots * shape.block_tokens;
  std::uint32_t left = std::min(slots_tokens, 560u), tokens = 0;
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < 4 && left > 200; ++i) {
    const std::uint32_t segment = 1 + random.Below(150);
    const std::uint32_t at = world.AddSegment(segment, tokens);
    if (i == 0) first = at;
    tokens += segment;
    left -= (segment + kernels::kTileTokens - 1) / kernels::kTileTokens * kernels::kTileTokens;
  }
  const std::uint32_t rows = std::min(tokens, 20 + random.Below(70));
  world.AddRows(first, tokens - rows, tokens, tokens - rows);
  return world;
}

SK_TEST(ARowPrefilledIsTheRowDecodedBitForBit) {
  for (const AttentionShape& shape : kPrefillShapes) {
    if (!IsPossible(shape, DecodeWay(shape)) || shape.q_heads > 8) continue;
    const World world = MakeWorld(shape, 8);
    const std::vector<float> decoded = RunAttention(world, DecodeWay(shape), {});
    SK_EXPECT(AreBitsEqual(RunAttention(world, Way::kPrefill, {}), decoded));
  }
  const AttentionShape shape{64, 64, 16, 1, 2, RotaryPairs::kHalfSplit};
  for (const std::uint64_t seed : Seeds(4)) {
    const World world = RandomPlan(shape, seed);
    const RunOptions options{.seed = seed, .scale = seed % 2 == 0 ? 0.125f : 40.0f};
    const std::vector<float> decoded = RunAttention(world, Way::kDecodeFromPool, options);
    if (!AreBitsEqual(RunAttention(world, Way::kPrefill, options), decoded)) {
      Fail(__FILE__, __LINE__, "rows differ in the plan of seed " + std::to_string(seed));
    }
  }
}

SK_TEST(ACutChangesNoBit) {
  ExpectNoBitChangedByACut({64, 64, 32, 1, 1, RotaryPairs::kAdjacent}, Way::kPrefill);
}

SK_TEST(ZeroHasNoSign) {
  // One token outweighs all before it, so that these, negative, are multiplied by 0; its own V is
  // -0. The tile behind it is masked for the first row, and would turn -0 into 0.
  World world({64, 0, 64, 1, 1, RotaryPairs::kHalfSplit}, 16);
  world.AddSegment(448, 0);
  world.AddRow({0, 6, 64, 383});
  world.AddRow({0, 7, 64, 447});
  for (std::uint32_t token = 0; token < 448; ++token) {
    const std::size_t at = world.At(token / 64, token % 64, true, 0);
    for (std::uint32_t i = 0; i < 64; ++i) {
      std::uint16_t& bits = world.pool[at + i];
      bits = token < 384 ? bits | 0x8000 : bits & 0x7fff;
      if (token == 350) bits = 0x8000;
    }
  }
  std::copy_n(world.q.begin(), 64,
              world.pool.begin() + static_cast<std::ptrdiff_t>(world.At(5, 30, false, 0)));
  const RunOptions options{.scale = 1e4f};
  const std::vector<float> decoded = RunAttention(world, Way::kDecodeFromScratch, options);
  SK_EXPECT(std::all_of(decoded.begin(), decoded.begin() + 64, [](float x) { return x == 0; }));
  SK_EXPECT(AreBitsEqual(RunAttention(world, Way::kPrefill, options), decoded));
}

SK_TEST(AStepDecodesItsFirstRowsAndPrefillsTheOthers) {
  const World world = MakeWorld({64, 64, 32, 2, 6, RotaryPairs::kHalfSplit}, 19);
  const std::vector<float> decoded = RunAttention(world, Way::kDecodeFromPool, {});
  const auto rows = static_cast<std::uint32_t>(world.rows.size());
  for (std::uint32_t first = 0; first <= rows; first += 3) {
    SK_EXPECT(AreBitsEqual(
        RunAttention(world, Way::kMixed, {.seed = first, .decoding_rows = first}), decoded));
  }
}

SK_TEST(LongListsPrefillAsTheyDecode) {
  World world({64, 64, 64, 1, 1, RotaryPairs::kHalfSplit}, 17);
  world.AddSegment(1000, 0);
  world.AddRows(0, 440, 460, 440);  // ends in the second of the splits that the tile goes through
  for (std::uint32_t i = 1; i <= 16; ++i) world.AddRow({0, i, 1 + i * 2, i * 64});
  SK_EXPECT(AreBitsEqual(RunAttention(world, Way::kPrefill, {}),
                         RunAttention(world, Way::kDecodeFromPool, {})));
}

SK_TEST(QueryTilesChangeNoBit) {
  const AttentionShape shape{128, 128, 64, 1, 1, RotaryPairs::kHalfSplit};
  World world(shape, 12);
  world.AddSegment(70, 0);
  world.AddRows(0, 0, 70, 0);
  const std::vector<float> together = RunAttention(world, Way::kPrefill, {});
  RunOptions options{.seed = 5};
  options.query_tiles = {{0, 1}, {1, 17}, {18, 33}, {51, 19}};
  SK_EXPECT(AreBitsEqual(RunAttention(world, Way::kPrefill, options), together));
}

SK_TEST(NothingToPrefillIsNothingOrZero) { ExpectNothingOrZero(Way::kPrefill); }

SK_TEST(QueryTilesAreRowsOfOneListUpToSixtyFour) {
  std::vector<kernels::AttendRow> rows(70, {3, 1, 1, 0});
  rows.resize(75, {4, 1, 1, 0});
  const std::vector<QueryTile> tiles = kernels::PlanQueryTiles(rows, 0);
  SK_EXPECT_EQ(tiles.size(), std::size_t{3});
  const QueryTile expected[] = {{0, 64}, {64, 6}, {70, 5}};
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    SK_EXPECT_EQ(tiles[i].first_row, expected[i].first_row);
    SK_EXPECT_EQ(tiles[i].row_count, expected[i].row_count);
  }
  const std::vector<QueryTile> behind = kernels::PlanQueryTiles(rows, 60);
  SK_EXPECT_EQ(behind.size(), std::size_t{2});
  SK_EXPECT_EQ(behind[0].first_row, 60u);
  SK_EXPECT_EQ(behind[0].row_count, 10u);
}

SK_TEST(PrefillSaysWhichParameterIsWrong) {
  PrefillParams params;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "rotate: block_tokens is 0");
  alignas(16) std::uint32_t words[4] = {};
  params.rows = ParamsOver(words, {96, 64, 16});
  SK_EXPECT_CONTAINS(kernels::Validate(params), "prefill: head_dim is 96");
  params.rows.keys.head_dim = 64;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "query_tiles_max is 0");
  params.query_tiles_max = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "prefill: a pointer is null");
}

}  // namespace
}  // namespace cairn::test
