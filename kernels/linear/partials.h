#ifndef CAIRN_KERNELS_LINEAR_PARTIALS_H_
#define CAIRN_KERNELS_LINEAR_PARTIALS_H_

#include "kernels/linear/output.h"

// Partial sums of splits, [split][row of rows_max][n], between a product and the kernel that adds
// them up.

namespace cairn::kernels {

// Columns `column` (even) and the one after it, as far as they exist.
SK_DEVICE void StorePartials(const LinearParams& params, std::uint32_t split, std::uint32_t row,
                             std::uint32_t column, SumPair sums) {
  const std::uint64_t at = sk::Index(std::uint64_t{split} * params.rows_max + row);
  float* partial = params.partials + at * params.n;
  if (column < params.n) partial[sk::Index(column)] = sums.low;
  if (column + 1 < params.n) partial[sk::Index(column + 1)] = sums.high;
}

// Adds up a row's pair of columns, `column` (even, below n) and the next, in index order, and
// stores it. A total starts as -0, which changes no bit of what is added to it first.
SK_DEVICE void FoldPair(const LinearParams& params, std::uint32_t row, std::uint32_t column) {
  const std::uint32_t count = SplitsOf(params.n, params.k).count;
  const std::uint64_t stride = std::uint64_t{params.rows_max} * params.n;
  const float* partial = params.partials + sk::Index(std::uint64_t{row}) * params.n;
  SumPair total = {-0.0f, -0.0f};
  for (std::uint32_t split = 0; split < count; ++split, partial += stride) {
    total.low += partial[sk::Index(column)];
    if (column + 1 < params.n) total.high += partial[sk::Index(column + 1)];
  }
  StoreSums(params, row, column, total);
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_LINEAR_PARTIALS_H_
