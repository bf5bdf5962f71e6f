#ifndef CAIRN_KERNELS_ROWS_BLOCK_SUM_H_
#define CAIRN_KERNELS_ROWS_BLOCK_SUM_H_

#include "kernels/sk/sk.h"

namespace cairn::kernels {

// The sum of all threads' values, in each of them: by halves in a warp, then warp after warp. The
// order is the block's shape's. `words` is a float a warp in shared memory, which the block does
// not use otherwise until it has passed another barrier.
SK_DEVICE float BlockSum(float value, float* words) {
  for (std::uint32_t step = 16; step > 0; step /= 2) {
    value += sk::ShuffleXor(value, step);
  }
  const std::uint32_t mine = sk::Index(sk::WarpIndex());
  if (sk::LaneIndex() == 0) words[mine] = value;
  sk::SyncBlock();
  float sum = words[sk::Index(0)];
  for (std::uint32_t warp = 1; warp < sk::ThreadCount() / 32; ++warp) {
    sum += words[sk::Index(warp)];
  }
  return sum;
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ROWS_BLOCK_SUM_H_
