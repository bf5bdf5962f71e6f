#include "kernels/linear/output.h"
#include "kernels/linear/packed.h"
#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kColumns = 64, kRows = 8;  // of a block's tile

// Rows first, first + 1, ... of a matrix, 16 values of k each, as wgmma's unswizzled chunks: eight
// rows of 16 bytes, then the same rows' other half. Zeros outside.
SK_DEVICE void StoreOperand(const std::uint16_t* matrix, std::uint32_t first, std::uint32_t rows,
                            std::uint32_t count, std::uint32_t k, std::uint32_t width,
                            std::byte* target) {
  if (sk::ThreadIndex() >= count * 2) return;
  const std::uint32_t in_tile = sk::ThreadIndex() / 2, half = sk::ThreadIndex() % 2;
  const std::uint32_t row = first + in_tile;
  sk::Words4 words = {};
  if (row < rows && k < width) {
    const std::uint64_t piece = sk::Index((std::uint64_t{row} * width + k) / 8 + half);
    words = sk::Load16(matrix + piece * 8);
  }
  const std::uint32_t chunk = sk::Index(in_tile / 8 * 16 + half * 8 + in_tile % 8);
  sk::Store16(target + chunk * 16, words);
}

// The simple kernel: one warpgroup, 64 columns of y by 8 rows; operands are stored, multiplied and
// waited for, 16 of k at a time.
SK_KERNEL void MultiplyPackedTilesSimply(LinearParams params) {
  const std::uint32_t column = sk::BlockIndexX() * kColumns, row = sk::BlockIndexY() * kRows;
  const std::uint32_t rows =
      *params.row_count < params.rows_max ? *params.row_count : params.rows_max;
  if (row >= rows) return;
  std::byte* tile_w = sk::SharedMemory();
  std::byte* tile_x = tile_w + kColumns * 32;
  auto* tile_y = reinterpret_cast<float*>(tile_x + kRows * 32);  // [row][column]
  const sk::MatrixDescriptor w =
      sk::Describe({.start = sk::ToShared(tile_w), .leading_bytes = 128, .stride_bytes = 256});
  const sk::MatrixDescriptor x =
      sk::Describe({.start = sk::ToShared(tile_x), .leading_bytes = 128, .stride_bytes = 256});

  const LinearSplits splits = SplitsOf(params.n, params.k);
  const std::uint32_t k_filled =
      (params.k + kLinearStepDepth - 1) / kLinearStepDepth * kLinearStepDepth;
  float total[4] = {}, sum[4] = {};
  for (std::uint32_t split = 0; split < splits.count; ++split) {
    const std::uint32_t begin = split * splits.depth;
    const std::uint32_t end = begin + splits.depth < k_filled ? begin + splits.depth : k_filled;
    for (std::uint32_t k = begin; k < end; k += 16) {
      StoreOperand(params.w, column, params.n, kColumns, k, params.k, tile_w);
      StoreOperand(params.x, row, rows, kRows, k, params.k, tile_x);
      sk::FenceProxyAsync();
      sk::SyncBlock();
      sk::WgmmaFence();
      sk::Wgmma<8, sk::InputType::kBf16, sk::Major::kK, sk::Major::kK>(sum, w, x, k > begin);
      sk::WgmmaCommit();
      sk::WgmmaWait<0>();
      sk::SyncBlock();  // the operands are stored anew
    }
    SK_UNROLL
    for (int i = 0; i < 4; ++i) total[i] = split == 0 ? sum[i] : total[i] + sum[i];
  }

  // A thread has two rows of each of two columns; it stores two columns of each of two rows.
  const std::uint32_t lane = sk::LaneIndex();
  SK_UNROLL
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t c = sk::WarpIndex() * 16 + i / 2 * 8 + lane / 4, r = lane % 4 * 2 + i % 2;
    tile_y[sk::Index(r * kColumns + c)] = total[i];
  }
  sk::SyncBlock();
  for (std::uint32_t i = sk::ThreadIndex(); i < kRows * kColumns / 2; i += sk::kWarpgroupThreads) {
    const std::uint32_t r = i / (kColumns / 2), c = i % (kColumns / 2) * 2;
    const float* pair = tile_y + sk::Index(r * kColumns + c);
    if (row + r < rows) StoreSums(params, row + r, column + c, {pair[0], pair[1]});
  }
}

}  // namespace

rt::Status MultiplyPackedSimply(rt::Stream& stream, const LinearParams& params) {
  LinearParams checked = params;
  float none = 0;
  if (checked.partials == nullptr) checked.partials = &none;  // not needed here
  if (std::string wrong = Validate(checked); !wrong.empty()) return rt::Status(wrong);
  return rt::Launch(stream,
                    {.blocks_x = (params.n + kColumns - 1) / kColumns,
                     .blocks_y = (params.rows_max + kRows - 1) / kRows,
                     .threads = sk::kWarpgroupThreads,
                     .shared_bytes = (kColumns + kRows) * 32 + kRows * kColumns * 4},
                    MultiplyPackedTilesSimply, params);
}

}  // namespace cairn::kernels
