#ifndef CAIRN_KERNELS_LINEAR_LINEAR_H_
#define CAIRN_KERNELS_LINEAR_LINEAR_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/linear/splits.h"
#include "kernels/sk/rt/runtime.h"

// y = x W^T: bf16 products on mma.sync.m16n8k16, fp32 sums.
//
// Bits: y[r][i] is, for each split of k (splits.h: W's shape decides), a chain of products onto +0
// in ascending k, 16 at a time; the splits' sums are added in index order; then one rounding, for a
// bf16 output, or one addition to what y held. So a row's bits depend on its own x and on W: not on
// how many rows there are, which kernel or tile does them, or where they stand in it. (That
// mma.sync sums a row's products alike in each of its 16 rows is the hardware's part of this.)
//
// packed.h has the same product on wgmma, which is faster for many rows and has other bits.

namespace cairn::kernels {

enum class LinearOutput : std::uint32_t {
  kF32,
  kBf16,
  kAddF32,  // y += x W^T, in f32: the residual stream
};

struct LinearParams {
  const std::uint16_t* x = nullptr;  // [row][k], bf16, 16-byte aligned
  const std::uint16_t* w = nullptr;  // [n][k], bf16, 16-byte aligned
  void* y = nullptr;                 // [row][n], f32 or bf16
  std::uint32_t n = 0;
  std::uint32_t k = 0;  // a multiple of 16
  LinearOutput output = LinearOutput::kF32;
  const std::uint32_t* row_count = nullptr;  // one word of device memory
  std::uint32_t rows_max = 0;                // the grid's size: rows beyond are not done
  float* partials = nullptr;  // LinearPartialsBytes of device memory; may be null where that is 0
};

// Multiply keeps partial sums there, for grids of few rows and matrices of several splits.
std::size_t LinearPartialsBytes(std::uint32_t n, std::uint32_t k, std::uint32_t rows_max);

// What is wrong with the parameters, or "".
std::string Validate(const LinearParams& params);

rt::Status Multiply(rt::Stream& stream, const LinearParams& params);
// The same bits by the simple kernel, which takes no partials.
rt::Status MultiplySimply(rt::Stream& stream, const LinearParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_LINEAR_LINEAR_H_
