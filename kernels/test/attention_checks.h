#ifndef CAIRN_KERNELS_TEST_ATTENTION_CHECKS_H_
#define CAIRN_KERNELS_TEST_ATTENTION_CHECKS_H_

#include <cstdint>
#include <vector>

#include "kernels/test/attention_world.h"
#include "kernels/test/harness.h"

// What holds of several kernels of attention, checked over worlds; whoever calls says of which.

namespace cairn::test {

// Shapes that both kernels of prefill do.
inline constexpr AttentionShape kPrefillShapes[] = {
    {64, 64, 16, 2, 4, kernels::RotaryPairs::kHalfSplit},
    {128, 128, 64, 1, 2, kernels::RotaryPairs::kAdjacent},
    {256, 64, 32, 1, 1, kernels::RotaryPairs::kHalfSplit},
    {64, 64, 32, 1, 9, kernels::RotaryPairs::kAdjacent, kernels::ElementType::kF16},
    {128, 20, 16, 1, 3, kernels::RotaryPairs::kHalfSplit},
};
// The usual scale of scores, 1 / sqrt(head_dim).
float ScaleOf(const AttentionShape& shape);
// kDecodeFromPool where there is a kernel for it, else kDecodeFromScratch.
Way DecodeWay(const AttentionShape& shape);

// Outputs of all rows are those in double, within what the rounding of weights allows.
void ExpectAsInDouble(const World& world, const std::vector<float>& got, double scale);
// ... of MakeWorld(shape, seed), run this way.
void ExpectWorldAsInDouble(const AttentionShape& shape, std::uint64_t seed, Way way);
// No rows have no output; a row that sees no token has zeros.
void ExpectNothingOrZero(Way way);
// A prompt of 150 rows behind another segment, cut in two anywhere: the bits of the whole.
void ExpectNoBitChangedByACut(const AttentionShape& shape, Way way);

// Parameters with which nothing is wrong, unless the shape is: pointers are to `words`, which is
// 16-byte aligned and never read.
kernels::AttendParams ParamsOver(std::uint32_t* words, const AttentionShape& shape);

}  // namespace cairn::test

#endif  // CAIRN_KERNELS_TEST_ATTENTION_CHECKS_H_
