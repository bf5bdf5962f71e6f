#ifndef CAIRN_KERNELS_LINEAR_SPLITS_H_
#define CAIRN_KERNELS_LINEAR_SPLITS_H_

#include "kernels/sk/target.h"

namespace cairn::kernels {

inline constexpr std::uint32_t kLinearTileColumns = 128;  // of y, in a tile of Multiply
inline constexpr std::uint32_t kLinearStepDepth = 64;     // of k, in a step of its pipeline

// Split s of a product covers k from s * depth on, `depth` of them or what is left.
struct LinearSplits {
  std::uint32_t count;
  std::uint32_t depth;  // a multiple of kLinearStepDepth
};

// How k is cut, by the shape of W alone: a product of one row has n / 128 tiles, and wants about
// two blocks for each of 132 SMs; a split is at least 128 deep, and there are at most 16.
SK_BOTH constexpr LinearSplits SplitsOf(std::uint32_t n, std::uint32_t k) {
  constexpr std::uint32_t kBlocksWanted = 264, kDepthMin = 128, kCountMax = 16;
  const std::uint32_t tiles = (n + kLinearTileColumns - 1) / kLinearTileColumns;
  std::uint32_t count = (kBlocksWanted + tiles - 1) / tiles;
  if (count > k / kDepthMin) count = k / kDepthMin;
  if (count > kCountMax) count = kCountMax;
  if (count < 1) count = 1;
  const std::uint32_t share = (k + count - 1) / count;
  const std::uint32_t depth = (share + kLinearStepDepth - 1) / kLinearStepDepth * kLinearStepDepth;
  return {(k + depth - 1) / depth, depth};
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_LINEAR_SPLITS_H_
