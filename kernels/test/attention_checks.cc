#include "kernels/test/attention_checks.h"

#include <cmath>
#include <string>

namespace cairn::test {

float ScaleOf(const AttentionShape& shape) {
  return 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
}

Way DecodeWay(const AttentionShape& shape) {
  return IsPossible(shape, Way::kDecodeFromPool) ? Way::kDecodeFromPool : Way::kDecodeFromScratch;
}

void ExpectAsInDouble(const World& world, const std::vector<float>& got, double scale) {
  const std::vector<double> expected = world.ExpectedAll(scale);
  SK_EXPECT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    SK_EXPECT(std::fabs(got[i] - expected[i]) <= world.bound());
  }
}

void ExpectWorldAsInDouble(const AttentionShape& shape, std::uint64_t seed, Way way) {
  const World world = MakeWorld(shape, seed);
  const RunOptions options{.seed = RunSettings().first_seed, .scale = ScaleOf(shape)};
  ExpectAsInDouble(world, RunAttention(world, way, options), options.scale);
}

void ExpectNothingOrZero(Way way) {
  World world({64, 64, 16, 1, 2, kernels::RotaryPairs::kHalfSplit}, 2);
  world.AddSegment(10, 0);
  SK_EXPECT(RunAttention(world, way, {}).empty());
  world.AddRow({0, 0, 0, 5});
  world.AddRow({0, 1, 0, 5});
  for (const float x : RunAttention(world, way, {})) SK_EXPECT_EQ(x, 0.0f);
}

void ExpectNoBitChangedByACut(const AttentionShape& shape, Way way) {
  for (const std::uint64_t seed : Seeds(3)) {
    World whole(shape, 11);
    whole.AddSegment(90, 0);
    whole.AddSegment(150, 90);
    whole.AddRows(0, 90, 240, 90);
    const std::vector<float> all = RunAttention(whole, way, {.seed = seed});
    const std::uint32_t cut = 1 + sk::emu::Random(seed).Below(148);
    // The first part runs before the tokens behind the cut are written.
    std::vector<float> got = RunAttention(whole.UpTo(cut), way, {.seed = seed});
    // The second part begins anywhere in a tile of queries.
    const std::vector<float> rest = RunAttention(whole.From(cut), way, {.seed = seed});
    got.insert(got.end(), rest.begin(), rest.end());
    if (!AreBitsEqual(got, all)) {
      Fail(__FILE__, __LINE__, "a cut after " + std::to_string(cut) + " rows changes bits");
    }
  }
}

kernels::AttendParams ParamsOver(std::uint32_t* words, const AttentionShape& shape) {
  kernels::AttendParams params;
  kernels::RotateParams& keys = params.keys;
  keys.block_tokens = shape.block_tokens;
  keys.head_dim = shape.head_dim;
  keys.rotary_dim = shape.rotary_dim;
  keys.kv_heads = shape.kv_heads;
  keys.block_bytes = std::uint64_t{4} * shape.kv_heads * shape.block_tokens * shape.head_dim;
  keys.pool = reinterpret_cast<const std::byte*>(words);
  keys.table = reinterpret_cast<const float*>(words);
  keys.positions = kernels::kTileTokens;
  keys.tiles = reinterpret_cast<const kernels::RotateTile*>(words);
  keys.tile_count = words;
  keys.tiles_max = 1;
  keys.scratch = reinterpret_cast<std::uint16_t*>(words);
  params.q = reinterpret_cast<const std::uint16_t*>(words);
  params.out = reinterpret_cast<float*>(words);
  params.q_heads = shape.q_heads;
  params.scale = 1;
  params.rows = reinterpret_cast<const kernels::AttendRow*>(words);
  params.row_count = words;
  params.rows_max = 1;
  return params;
}

}  // namespace cairn::test
