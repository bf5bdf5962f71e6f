#include "kernels/attention/attend.h"

#include <algorithm>
#include <cmath>

#include "kernels/test/attention_checks.h"

namespace cairn::test {
namespace {

using kernels::AttendParams;
using kernels::ElementType;
using kernels::RotaryPairs;

SK_TEST(RowsAttendAsInDouble) {
  const AttentionShape shapes[] = {{64, 64, 16, 1, 3, RotaryPairs::kHalfSplit},
                                   {128, 128, 64, 2, 2, RotaryPairs::kAdjacent},
                                   {48, 20, 32, 1, 1, RotaryPairs::kHalfSplit},
                                   {256, 64, 64, 1, 2, RotaryPairs::kHalfSplit},
                                   {64, 32, 32, 2, 4, RotaryPairs::kAdjacent, ElementType::kF16}};
  for (const AttentionShape& shape : shapes) {
    const World world = MakeWorld(shape, 5);
    const RunOptions options{.seed = RunSettings().first_seed, .scale = ScaleOf(shape)};
    const std::vector<float> got = RunAttention(world, Way::kSimple, options);
    const std::vector<double> expected = world.ExpectedAll(options.scale);
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
    SK_EXPECT(AreBitsEqual(RunAttention(world, Way::kSimple, {.seed = seed}), all));
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
  alignas(16) std::uint32_t words[4] = {};
  params = ParamsOver(words, {64, 64, 16, 2, 3});
  params.keys.block_bytes /= 2;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "q_heads is 3");
  params.q_heads = 4;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "layer_offset is 0");
  params.keys.block_bytes *= 2;
  params.scale = INFINITY;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "scale is not finite");
  params.scale = 1;
  params.q = nullptr;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
}

}  // namespace
}  // namespace cairn::test
