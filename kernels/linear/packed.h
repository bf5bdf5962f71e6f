#ifndef CAIRN_KERNELS_LINEAR_PACKED_H_
#define CAIRN_KERNELS_LINEAR_PACKED_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/linear/linear.h"

// y = x W^T once more, on wgmma and with W packed: Hopper's fast product, in an arithmetic of its
// own. Where mma.sync's bits are wanted (linear.h), this is not it.
//
// Bits: y[r][i] is, for each split of k (splits.h: W's shape decides), a chain of m64nNk16 products
// in ascending k, the first of them onto nothing, k filled up with zeros to a multiple of 64; the
// splits' sums are added in index order; then one rounding, for a bf16 output, or one addition to
// what y held. W is the operand of 64 rows, x that of N, so one program does a single row (N = 8)
// and many (N = 192), and a row's bits depend on its own x and on W: not on how many rows there
// are, on N, on the grid, or on where the row stands. (That wgmma sums each of its N columns alike,
// for every N, is the hardware's part of this: gpu-check's mma_equal looks at N = 8, 64 and 256.)

namespace cairn::kernels {

// W as wgmma wants it (packed_tiles.h). Once a matrix, when it is loaded.
struct PackParams {
  const std::uint16_t* w = nullptr;  // [n][k], bf16, 16-byte aligned
  std::uint16_t* packed = nullptr;   // PackedWeightsBytes of device memory, 16-byte aligned
  std::uint32_t n = 0;
  std::uint32_t k = 0;  // a multiple of 16
};

// Of W's packed form: 2 n k, with n filled up to a multiple of 128 and k to one of 64.
std::size_t PackedWeightsBytes(std::uint32_t n, std::uint32_t k);

// What is wrong with the parameters, or "".
std::string Validate(const PackParams& params);
// Writes all PackedWeightsBytes.
rt::Status PackWeights(rt::Stream& stream, const PackParams& params);
// The same bytes by a simple kernel.
rt::Status PackWeightsSimply(rt::Stream& stream, const PackParams& params);

struct PackedLinearParams {
  const std::uint16_t* x = nullptr;       // [row][k], bf16, 16-byte aligned
  const std::uint16_t* packed = nullptr;  // what PackWeights wrote of W
  void* y = nullptr;                      // [row][n], f32 or bf16
  std::uint32_t n = 0;                    // of W, as it was packed
  std::uint32_t k = 0;
  LinearOutput output = LinearOutput::kF32;
  const std::uint32_t* row_count = nullptr;  // one word of device memory
  std::uint32_t rows_max = 0;                // chooses N; rows beyond are not done
  float* partials = nullptr;  // LinearPartialsBytes of device memory; may be null where that is 0
  std::uint32_t sm_count = 132;  // the grid is made for so many: two blocks each, one of many rows
};

// What is wrong with the parameters, or "".
std::string Validate(const PackedLinearParams& params);

// N, the rows of x in a tile: 8, 16, 32, 64 or 128 where rows_max is no more; else 128 or 192,
// whichever is done first by the bytes that shared memory moves (README).
std::uint32_t PackedTileRows(const PackedLinearParams& params);

rt::Status MultiplyPacked(rt::Stream& stream, const PackedLinearParams& params);
// The same bits by the simple kernel, from W as it is; takes no partials.
rt::Status MultiplyPackedSimply(rt::Stream& stream, const LinearParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_LINEAR_PACKED_H_
