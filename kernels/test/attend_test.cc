#include "kernels/attention/attend.h"

#include <algorithm>
#include <cmath>

#include "kernels/test/attention_world.h"
#include "kernels/test/harness.h"

namespace cairn::test {
namespace {

using kernels::AttendParams;
using kernels::ElementType;
using kernels::RotaryPairs;
using kernels::RotateTile;

SK_TEST(RowsAttendAsInDouble) {
  const AttentionShape shapes[] = {{64, 64, 16, 1, 3, RotaryPairs::kHalfSplit},
                                   {128, 128, 64, 2, 2, RotaryPairs::kAdjacent},
                                   {48, 20, 32, 1, 1, RotaryPairs::kHalfSplit},
                                   {256, 64, 64, 1, 2, RotaryPairs::kHalfSplit},
                                   {64, 32, 32, 2, 4, RotaryPairs::kAdjacent, ElementType::kF16}};
  for (const AttentionShape& shape : shapes) {
    const World world = MakeWorld(shape, 5);
    const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
    const std::vector<float> got =
        RunAttention(world, Way::kSimple, {.seed = RunSettings().first_seed, .scale = scale});
    std::vector<double> bounds;
    const std::vector<double> expected = world.ExpectedAll(scale, &bounds);
    for (std::size_t i = 0; i < got.size(); ++i) {
      SK_EXPECT(std::fabs(got[i] - expected[i]) <= 1e-3);  // a key may round to the other neighbour
    }
  }
}

SK_TEST(ARowsBitsDependOnItsOwnTilesOnly) {
  const AttentionShape shape{64, 64, 16, 1, 2, RotaryPairs::kHalfSplit};
  World world = MakeWorld(shape, 9);
  const std::vector<float> all = RunAttention(world, Way::kSimple, {});
  for (const std::uint64_t seed : Seeds(2)) {
    SK_EXPECT(AreSame(RunAttention(world, Way::kSimple, {.seed = seed}), all));
  }
  // Without the requests around it, and with a last tile of which nothing is visible.
  const auto values = static_cast<std::ptrdiff_t>(world.row_values());
  world.rows = {{0, 3, 64, 163}, {0, 4, 0, 163}};
  world.q.assign(world.q.begin() + values, world.q.begin() + 2 * values);
  world.q.insert(world.q.end(), world.q.begin(), world.q.begin() + values);
  const std::vector<float> few = RunAttention(world, Way::kSimple, {.seed = 3});
  SK_EXPECT(std::equal(few.begin(), few.begin() + values, all.begin() + values));
  SK_EXPECT(std::equal(few.begin() + values, few.end(), all.begin() + values));
}

SK_TEST(AttendSaysWhichParameterIsWrong) {
  AttendParams params;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "rotate: block_tokens is 0");
  alignas(16) const std::uint32_t words[4] = {};
  params.keys.block_tokens = 16;
  params.keys.head_dim = params.keys.rotary_dim = params.keys.positions = 64;
  params.keys.kv_heads = 2;
  params.keys.block_bytes = 2 * 16 * 64 * 2;
  params.keys.pool = reinterpret_cast<const std::byte*>(words);
  params.keys.table = reinterpret_cast<const float*>(words);
  params.keys.tiles = reinterpret_cast<const RotateTile*>(words);
  params.keys.tile_count = words;
  params.keys.tiles_max = 1;
  alignas(16) std::uint16_t scratch = 0;
  params.keys.scratch = &scratch;
  params.q_heads = 3;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "q_heads is 3");
  params.q_heads = 4;
  params.rows_max = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "layer_offset is 0");
  params.keys.block_bytes *= 2;
  params.scale = INFINITY;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "scale is not finite");
  params.scale = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
}

}  // namespace
}  // namespace cairn::test
