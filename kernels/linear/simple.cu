#include "kernels/linear/linear.h"
#include "kernels/linear/output.h"

namespace cairn::kernels {
namespace {

// Values k, k + 1 of a row, or zeros outside.
SK_DEVICE std::uint32_t PairAt(const std::uint16_t* matrix, std::uint32_t row, std::uint32_t rows,
                               std::uint32_t k, std::uint32_t width) {
  if (row >= rows) return 0;
  const std::uint64_t at = std::uint64_t{row} * width + k;
  return reinterpret_cast<const std::uint32_t*>(matrix)[sk::Index(at / 2)];
}

// The simple kernel: one warp a tile of 16 rows and 8 columns, fragments straight from global
// memory.
SK_KERNEL void MultiplyTilesSimply(LinearParams params) {
  const std::uint32_t row = sk::BlockIndexY() * 16;
  const std::uint32_t rows =
      *params.row_count < params.rows_max ? *params.row_count : params.rows_max;
  if (row >= rows) return;
  const std::uint32_t lane = sk::LaneIndex(), group = lane / 4, k_in_group = lane % 4 * 2;
  const std::uint32_t column = sk::BlockIndexX() * 8;
  const LinearSplits splits = SplitsOf(params.n, params.k);
  float total[4] = {};
  for (std::uint32_t split = 0; split < splits.count; ++split) {
    const std::uint32_t begin = split * splits.depth;
    const std::uint32_t end = begin + splits.depth < params.k ? begin + splits.depth : params.k;
    float sum[4] = {};
    for (std::uint32_t k = begin + k_in_group; k < end; k += 16) {
      const std::uint32_t a[4] = {PairAt(params.x, row + group, rows, k, params.k),
                                  PairAt(params.x, row + group + 8, rows, k, params.k),
                                  PairAt(params.x, row + group, rows, k + 8, params.k),
                                  PairAt(params.x, row + group + 8, rows, k + 8, params.k)};
      const std::uint32_t b[2] = {PairAt(params.w, column + group, params.n, k, params.k),
                                  PairAt(params.w, column + group, params.n, k + 8, params.k)};
      sk::MmaBf16(sum, a, b);
    }
    SK_UNROLL
    for (int i = 0; i < 4; ++i) total[i] = split == 0 ? sum[i] : total[i] + sum[i];
  }
  SK_UNROLL
  for (std::uint32_t half = 0; half < 2; ++half) {
    const std::uint32_t r = row + group + half * 8;
    if (r < rows) {
      StoreSums(params, r, column + k_in_group, {total[2 * half], total[2 * half + 1]});
    }
  }
}

}  // namespace

rt::Status MultiplySimply(rt::Stream& stream, const LinearParams& params) {
  LinearParams checked = params;
  float none = 0;
  if (checked.partials == nullptr) checked.partials = &none;  // not needed here
  if (std::string wrong = Validate(checked); !wrong.empty()) return rt::Status(wrong);
  return rt::Launch(
      stream,
      {.blocks_x = (params.n + 7) / 8, .blocks_y = (params.rows_max + 15) / 16, .threads = 32},
      MultiplyTilesSimply, params);
}

}  // namespace cairn::kernels
