#include "kernels/attention/prefill.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/test/attention_world.h"
#include "kernels/test/harness.h"

namespace cairn::test {
namespace {

using kernels::ElementType;
using kernels::PrefillParams;
using kernels::QueryTile;
using kernels::RotaryPairs;

const AttentionShape kShapes[] = {
    {64, 64, 16, 2, 4, RotaryPairs::kHalfSplit},
    {128, 128, 64, 1, 2, RotaryPairs::kAdjacent},
    {256, 64, 32, 1, 1, RotaryPairs::kHalfSplit},
    {64, 64, 32, 1, 9, RotaryPairs::kAdjacent, ElementType::kF16},
    {128, 20, 16, 1, 3, RotaryPairs::kHalfSplit},
};

Way DecodeWay(const AttentionShape& shape) {
  return IsPossible(shape, Way::kDecodeFromPool) ? Way::kDecodeFromPool : Way::kDecodeFromScratch;
}

SK_TEST(RowsPrefillAsInDouble) {
  for (const AttentionShape& shape : kShapes) {
    const World world = MakeWorld(shape, 7);
    const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
    const std::vector<float> got =
        RunAttention(world, Way::kPrefill, {.seed = RunSettings().first_seed, .scale = scale});
    std::vector<double> bounds;
    const std::vector<double> expected = world.ExpectedAll(scale, &bounds);
    for (std::size_t i = 0; i < got.size(); ++i) {
      SK_EXPECT(std::fabs(got[i] - expected[i]) <= bounds[i]);
    }
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
  for (const AttentionShape& shape : kShapes) {
    if (!IsPossible(shape, DecodeWay(shape)) || shape.q_heads > 8) continue;
    const World world = MakeWorld(shape, 8);
    const std::vector<float> decoded = RunAttention(world, DecodeWay(shape), {});
    SK_EXPECT(AreSame(RunAttention(world, Way::kPrefill, {}), decoded));
  }
  const AttentionShape shape{64, 64, 16, 1, 2, RotaryPairs::kHalfSplit};
  for (const std::uint64_t seed : Seeds(4)) {
    const World world = RandomPlan(shape, seed);
    const RunOptions options{.seed = seed, .scale = seed % 2 == 0 ? 0.125f : 40.0f};
    const std::vector<float> decoded = RunAttention(world, Way::kDecodeFromPool, options);
    if (!AreSame(RunAttention(world, Way::kPrefill, options), decoded)) {
      Fail(__FILE__, __LINE__, "rows differ in the plan of seed " + std::to_string(seed));
    }
  }
}

SK_TEST(ACutChangesNoBit) {
  const AttentionShape shape{64, 64, 32, 1, 1, RotaryPairs::kAdjacent};
  for (const std::uint64_t seed : Seeds(3)) {
    World whole(shape, 11);
    whole.AddSegment(90, 0);
    whole.AddSegment(150, 90);
    whole.AddRows(0, 90, 240, 90);
    const std::vector<float> all = RunAttention(whole, Way::kPrefill, {.seed = seed});
    // The first part runs before the tokens behind the cut are written.
    const std::uint32_t cut = 91 + sk::emu::Random(seed).Below(148);
    std::vector<float> got = RunAttention(whole.UpTo(cut - 90), Way::kPrefill, {.seed = seed});
    // The second part begins anywhere in a tile of queries.
    World part = whole;
    part.rows.erase(part.rows.begin(), part.rows.begin() + (cut - 90));
    part.q.erase(part.q.begin(), part.q.begin() + static_cast<std::ptrdiff_t>(got.size()));
    const std::vector<float> rest = RunAttention(part, Way::kPrefill, {.seed = seed});
    got.insert(got.end(), rest.begin(), rest.end());
    if (!AreSame(got, all))
      Fail(__FILE__, __LINE__, "a cut at " + std::to_string(cut) + " changes bits");
  }
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
  SK_EXPECT(AreSame(RunAttention(world, Way::kPrefill, options), decoded));
}

SK_TEST(AStepDecodesItsFirstRowsAndPrefillsTheOthers) {
  const World world = MakeWorld({64, 64, 32, 2, 6, RotaryPairs::kHalfSplit}, 19);
  const std::vector<float> decoded = RunAttention(world, Way::kDecodeFromPool, {});
  const auto rows = static_cast<std::uint32_t>(world.rows.size());
  for (std::uint32_t first = 0; first <= rows; first += 3) {
    SK_EXPECT(AreSame(RunAttention(world, Way::kMixed, {.seed = first, .decoding_rows = first}),
                      decoded));
  }
}

SK_TEST(LongListsPrefillAsTheyDecode) {
  World world({64, 64, 64, 1, 1, RotaryPairs::kHalfSplit}, 17);
  world.AddSegment(1000, 0);
  world.AddRows(0, 440, 460, 440);  // ends in the second of the splits that the tile goes through
  for (std::uint32_t i = 1; i <= 16; ++i) world.AddRow({0, i, 1 + i * 2, i * 64});
  SK_EXPECT(AreSame(RunAttention(world, Way::kPrefill, {}),
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
  SK_EXPECT(AreSame(RunAttention(world, Way::kPrefill, options), together));
}

SK_TEST(NothingToPrefillIsNothingOrZero) {
  World world({64, 64, 16, 1, 2, RotaryPairs::kHalfSplit}, 2);
  world.AddSegment(10, 0);
  SK_EXPECT(RunAttention(world, Way::kPrefill, {}).empty());
  world.AddRow({0, 0, 0, 5});
  world.AddRow({0, 1, 0, 5});
  for (const float x : RunAttention(world, Way::kPrefill, {})) SK_EXPECT_EQ(x, 0.0f);
}

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
  kernels::AttendParams& rows = params.rows;
  rows.keys.block_tokens = 16;
  rows.keys.head_dim = 96;
  rows.keys.rotary_dim = rows.keys.positions = 64;
  rows.keys.kv_heads = rows.q_heads = 1;
  rows.keys.block_bytes = 2 * 16 * 96 * 2;
  rows.keys.pool = reinterpret_cast<const std::byte*>(words);
  rows.keys.table = reinterpret_cast<const float*>(words);
  rows.keys.tiles = reinterpret_cast<const kernels::RotateTile*>(words);
  rows.keys.tile_count = rows.row_count = words;
  rows.keys.tiles_max = rows.rows_max = 1;
  rows.keys.scratch = reinterpret_cast<std::uint16_t*>(words);
  rows.q = reinterpret_cast<const std::uint16_t*>(words);
  rows.out = reinterpret_cast<float*>(words);
  rows.rows = reinterpret_cast<const kernels::AttendRow*>(words);
  rows.scale = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "prefill: head_dim is 96");
  rows.keys.head_dim = 64;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "query_tiles_max is 0");
  params.query_tiles_max = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "prefill: a pointer is null");
}

}  // namespace
}  // namespace cairn::test
