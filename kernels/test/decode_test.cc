#include "kernels/attention/decode.h"

#include <algorithm>
#include <cmath>

#include "kernels/attention/tile_memory.h"
#include "kernels/test/attention_checks.h"

namespace cairn::test {
namespace {

using kernels::DecodeItem;
using kernels::DecodeParams;
using kernels::ElementType;
using kernels::RotaryPairs;

// Every rotation that there is in registers, groups of 1 to 8, blocks of 16, 32 and 64.
const AttentionShape kShapes[] = {
    {64, 64, 16, 2, 2, RotaryPairs::kHalfSplit},
    {64, 64, 32, 2, 6, RotaryPairs::kAdjacent},
    {128, 128, 64, 1, 4, RotaryPairs::kHalfSplit},
    {128, 128, 16, 1, 7, RotaryPairs::kAdjacent},
    {128, 64, 32, 1, 8, RotaryPairs::kHalfSplit},
    {128, 64, 64, 2, 4, RotaryPairs::kAdjacent},
    {256, 64, 16, 1, 5, RotaryPairs::kHalfSplit},
    {256, 64, 64, 1, 6, RotaryPairs::kAdjacent},
    {64, 64, 64, 1, 1, RotaryPairs::kHalfSplit, ElementType::kF16},
    {128, 128, 32, 1, 3, RotaryPairs::kAdjacent, ElementType::kF16},
    // From the scratch only.
    {64, 20, 16, 1, 2, RotaryPairs::kHalfSplit},
    {128, 0, 32, 1, 2, RotaryPairs::kAdjacent},
    {256, 256, 64, 1, 1, RotaryPairs::kHalfSplit, ElementType::kF16},
};

SK_TEST(RowsDecodeAsInDouble) {
  for (const AttentionShape& shape : kShapes) ExpectWorldAsInDouble(shape, 3, DecodeWay(shape));
}

SK_TEST(KeysTurnedInRegistersAreTheScratchsBitForBit) {
  for (const AttentionShape& shape : kShapes) {
    if (!IsPossible(shape, Way::kDecodeFromPool)) continue;
    const World world = MakeWorld(shape, 4);
    RunOptions options{.seed = RunSettings().first_seed, .scale = ScaleOf(shape)};
    const std::vector<float> in_registers = RunAttention(world, Way::kDecodeFromPool, options);
    options.blocks = 2;
    SK_EXPECT(AreBitsEqual(RunAttention(world, Way::kDecodeFromScratch, options), in_registers));
  }
}

SK_TEST(DecodesBitsDependOnTheRowAndNotOnItsCompany) {
  const AttentionShape shape{64, 64, 16, 2, 4, RotaryPairs::kHalfSplit};
  World world = MakeWorld(shape, 9);
  const std::vector<float> all = RunAttention(world, Way::kDecodeFromPool, {});
  std::uint32_t blocks = 1;
  for (const std::uint64_t seed : Seeds(6)) {
    const RunOptions options{.seed = seed, .blocks = blocks++};
    SK_EXPECT(AreBitsEqual(RunAttention(world, Way::kDecodeFromPool, options), all));
  }
  // Each row alone; and one with a last tile more, of which nothing is visible.
  const std::vector<kernels::AttendRow> rows = world.rows;
  const std::vector<std::uint16_t> q = world.q;
  const auto values = static_cast<std::ptrdiff_t>(world.row_values());
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * values;
    world.rows = {rows[i]};
    world.q.assign(q.begin() + at, q.begin() + at + values);
    const std::vector<float> alone = RunAttention(world, Way::kDecodeFromPool, {.blocks = 5});
    SK_EXPECT(std::equal(alone.begin(), alone.end(), all.begin() + at));
  }
  world.rows = {rows[1]};
  world.rows[0].tile_count += 1;
  world.rows[0].last_tokens = 0;
  world.q.assign(q.begin() + values, q.begin() + 2 * values);
  const std::vector<float> masked = RunAttention(world, Way::kDecodeFromPool, {});
  SK_EXPECT(std::equal(masked.begin(), masked.end(), all.begin() + values));
}

SK_TEST(NothingToDecodeIsNothingOrZero) { ExpectNothingOrZero(Way::kDecodeFromPool); }

SK_TEST(ManySplitsAreFoldedAsOneSoftmax) {
  // Maxima of splits rise and fall; the last tile is short.
  World world({64, 64, 64, 1, 2, RotaryPairs::kAdjacent}, 14);
  const std::uint32_t first = world.AddSegment(1200, 0);
  for (std::uint32_t i = 0; i < 4; ++i) world.AddRow({first + i, 19 - i, 48, 1199});
  const RunOptions options;
  ExpectAsInDouble(world, RunAttention(world, Way::kDecodeFromPool, options), options.scale);
}

SK_TEST(RowsWithoutRoomAreNotDone) {
  World world({64, 64, 64, 1, 2, RotaryPairs::kHalfSplit}, 15);
  const std::uint32_t first = world.AddSegment(600, 0);
  world.AddRow({first, 4, 64, 255});
  world.AddRow({first, 10, 24, 599});  // three items, one of which has room
  const std::vector<float> all = RunAttention(world, Way::kDecodeFromPool, {});
  std::vector<float> got = RunAttention(world, Way::kDecodeFromPool, {.items_max = 2});
  const auto row = static_cast<std::ptrdiff_t>(world.row_values());
  SK_EXPECT(std::equal(got.begin(), got.begin() + row, all.begin()));
  SK_EXPECT(std::all_of(got.begin() + row, got.end(), [](float x) { return x == -7.0f; }));
}

SK_TEST(ScoresFarApartWeighOneToken) {
  // All scores but the largest are more than 2^126 below it; its V is the answer.
  World world({64, 64, 32, 1, 1, RotaryPairs::kHalfSplit}, 6);
  world.AddSegment(290, 0);
  world.AddRow({0, 5, 34, 289});
  const std::vector<float> got = RunAttention(world, Way::kDecodeFromPool, {.scale = 1e4f});
  const std::vector<double> expected = world.ExpectedAll(1e4);
  for (std::size_t i = 0; i < got.size(); ++i) {
    SK_EXPECT(std::fabs(got[i] - expected[i]) <= std::fabs(expected[i]) * 0x1p-8);  // one weight's
  }
}

SK_TEST(EachTokenCanOutweighAllOthers) {
  // Row i's query is token i's key: 2^(any other's score - its score) is 0, and the reverse
  // infinite.
  World world({64, 0, 64, 1, 1, RotaryPairs::kHalfSplit}, 18);
  world.AddSegment(64, 0);
  for (std::uint32_t i = 0; i < 64; ++i) {
    world.AddRow({0, 1, 64, 63});
    std::copy_n(world.pool.begin() + static_cast<std::ptrdiff_t>(world.At(0, i, false, 0)), 64,
                world.q.end() - 64);
  }
  const std::vector<double> expected = world.ExpectedAll(1e4);
  for (const Way way : {Way::kDecodeFromScratch, Way::kPrefill}) {
    const std::vector<float> got = RunAttention(world, way, {.scale = 1e4f});
    for (std::size_t i = 0; i < got.size(); ++i) {
      SK_EXPECT(std::fabs(got[i] - expected[i]) <= std::fabs(expected[i]) * 0x1p-8);
    }
  }
}

SK_TEST(EightRowsOfATileAreInEightBanks) {
  for (std::uint32_t piece = 0; piece < 8; ++piece) {
    std::uint32_t seen = 0, in_row = 0;
    for (std::uint32_t i = 0; i < 8; ++i) {
      seen |= 1u << kernels::PieceOffset<64>(16 + i, piece) / 16 % 8;
      in_row |= 1u << kernels::PieceOffset<64>(19, i) / 16 % 8;
      SK_EXPECT_EQ(kernels::PieceOffset<128>(16 + i, piece + 8) / 256, 16 + i);
    }
    SK_EXPECT_EQ(seen, 0xffu);
    SK_EXPECT_EQ(in_row, 0xffu);
  }
}

SK_TEST(APlansItemsAreTheSplitsOfItsRows) {
  const kernels::DecodePlan plan = kernels::PlanDecode(
      std::vector<kernels::AttendRow>{{7, 9, 13, 600}, {2, 0, 0, 1}, {3, 4, 64, 255}});
  const std::vector<std::uint32_t> expected_first = {0, 3, 3};
  SK_EXPECT(plan.first_items == expected_first);
  const DecodeItem expected[] = {
      {0, 7, 4, 64, 600}, {0, 11, 4, 64, 600}, {0, 15, 1, 13, 600}, {2, 3, 4, 64, 255}};
  SK_EXPECT_EQ(plan.items.size(), std::size_t{4});
  for (std::size_t i = 0; i < plan.items.size(); ++i) {
    const DecodeItem& got = plan.items[i];
    SK_EXPECT_EQ(got.row, expected[i].row);
    SK_EXPECT_EQ(got.first_tile, expected[i].first_tile);
    SK_EXPECT_EQ(got.tile_count, expected[i].tile_count);
    SK_EXPECT_EQ(got.last_tokens, expected[i].last_tokens);
    SK_EXPECT_EQ(got.position, expected[i].position);
  }
}

SK_TEST(BlocksOfAnSmFitIntoItsSharedMemory) {
  SK_EXPECT_EQ(kernels::DecodeBlocksPerSm(64), 3u);
  SK_EXPECT_EQ(kernels::DecodeBlocksPerSm(128), 2u);
  SK_EXPECT_EQ(kernels::DecodeBlocksPerSm(256), 1u);
}

SK_TEST(DecodeSaysWhichParameterIsWrong) {
  DecodeParams params;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "rotate: block_tokens is 0");
  alignas(16) std::uint32_t words[4] = {};
  kernels::AttendParams& rows = params.rows;
  rows = ParamsOver(words, {64, 64, 16, 2, 18});
  rows.keys.block_bytes += 8;
  rows.scale = -1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "decode: block_bytes is 8200");
  rows.keys.block_bytes -= 8;
  rows.keys.block_bytes *= 2;
  rows.keys.layer_offset = 8;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "layer_offset is 8");
  rows.keys.layer_offset = 0;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "decode: scale is not 1e-30 or more");
  rows.scale = 1;
  rows.out = reinterpret_cast<float*>(words + 1);
  SK_EXPECT_CONTAINS(kernels::Validate(params), "not 16-byte aligned");
  rows.out = reinterpret_cast<float*>(words);
  SK_EXPECT_CONTAINS(kernels::Validate(params), "q_heads / kv_heads is 9");
  rows.q_heads = 16;
  rows.keys.rotary_dim = 30;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "rotary_dim is 30, not a multiple of 4");
  rows.keys.rotary_dim = 32;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "rotary_dim is 32, not 64");
  params.keys_from = kernels::KeysFrom::kScratch;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "items_max is 0");
  params.items_max = 1u << 31;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "items_max is 2147483648");
  params.items_max = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "blocks is 0");
  params.blocks = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "decode: a pointer is null");
  rows.keys.head_dim = 80;
  rows.keys.block_bytes *= 2;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "decode: head_dim is 80");
}

}  // namespace
}  // namespace cairn::test
