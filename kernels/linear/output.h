#ifndef CAIRN_KERNELS_LINEAR_OUTPUT_H_
#define CAIRN_KERNELS_LINEAR_OUTPUT_H_

#include "kernels/linear/linear.h"
#include "kernels/sk/sk.h"

namespace cairn::kernels {

struct alignas(8) SumPair {
  float low, high;
};

// The one way into y, for every kernel: columns `column` (even) and the one after it, as far as
// they exist. In one access where rows begin at even places.
SK_DEVICE void StoreSums(const LinearParams& params, std::uint32_t row, std::uint32_t column,
                         SumPair sums) {
  if (column >= params.n) return;
  const bool has_both = column + 1 < params.n;
  const std::uint64_t at = std::uint64_t{row} * params.n + column;
  if (params.output == LinearOutput::kBf16) {
    auto* y = static_cast<std::uint16_t*>(params.y);
    const std::uint32_t pair = sk::PackBf16(sums.low, sums.high);
    if (params.n % 2 == 0) {
      reinterpret_cast<std::uint32_t*>(y)[sk::Index(at / 2)] = pair;
    } else {
      y[sk::Index(at)] = static_cast<std::uint16_t>(pair);
      if (has_both) y[sk::Index(at + 1)] = static_cast<std::uint16_t>(pair >> 16);
    }
    return;
  }
  auto* y = static_cast<float*>(params.y);
  const bool adds = params.output == LinearOutput::kAddF32;
  if (params.n % 2 == 0) {
    SumPair& pair = reinterpret_cast<SumPair*>(y)[sk::Index(at / 2)];
    if (adds) sums = {pair.low + sums.low, pair.high + sums.high};
    pair = sums;
  } else {
    float& low = y[sk::Index(at)];
    low = adds ? low + sums.low : sums.low;
    if (!has_both) return;
    float& high = y[sk::Index(at + 1)];
    high = adds ? high + sums.high : sums.high;
  }
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_LINEAR_OUTPUT_H_
