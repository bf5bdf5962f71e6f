#include "kernels/linear/linear.h"
#include "kernels/linear/output.h"
#include "kernels/linear/partials.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kStages = 4;
constexpr std::uint32_t kRowBytes = kLinearStepDepth * 2;  // of a tile's row in shared memory
constexpr std::uint32_t kFewRowsMax =
    64;  // of a grid that keeps partials; more: folded in registers

// Rows of a tile, and how it is dealt out: each warp has 32 columns and up to 64 rows.
template <std::uint32_t kTileRows>
struct Tile {
  static constexpr bool kFolds = kTileRows > kFewRowsMax;  // a block does all splits
  static constexpr std::uint32_t kWarpRows = kTileRows < 64 ? kTileRows : 64;
  static constexpr std::uint32_t kBands = kWarpRows / 16;  // a band: the 16 rows of an mma
  static constexpr std::uint32_t kThreads = kTileRows / kWarpRows * (kLinearTileColumns / 32) * 32;
  static constexpr std::uint32_t kStageBytes = (kTileRows + kLinearTileColumns) * kRowBytes;
  static constexpr std::uint32_t kSharedBytes = kStages * kStageBytes;
};

// Chunk (16 bytes) `chunk` of row `row` of a stage: the 8 rows that ldmatrix reads at a time lie in
// 8 different groups of banks.
SK_DEVICE std::uint32_t Swizzled(std::uint32_t row, std::uint32_t chunk) {
  return row * kRowBytes + (chunk ^ row % 8) * 16;
}

// What a block works on.
struct Work {
  std::uint32_t row, column;  // of the tile's first
  std::uint32_t rows;         // there are, in all
  std::uint32_t k_begin, k_end;
};

// Step `step` of k, 64 deep, of x's and W's rows into its stage; zeros beyond their ends.
template <std::uint32_t kTileRows>
SK_DEVICE void LoadStep(const LinearParams& params, const Work& work, sk::SharedAddress base,
                        std::uint32_t step) {
  using T = Tile<kTileRows>;
  const sk::SharedAddress stage = base + sk::Index(step % kStages) * T::kStageBytes;
  const std::uint32_t chunk = sk::ThreadIndex() % 8;
  const std::uint32_t k = work.k_begin + step * kLinearStepDepth + chunk * 8;
  SK_UNROLL
  for (std::uint32_t i = 0; i < kTileRows + kLinearTileColumns; i += T::kThreads / 8) {
    const std::uint32_t in_stage = i + sk::ThreadIndex() / 8;
    const bool is_x = in_stage < kTileRows;
    const std::uint16_t* matrix = is_x ? params.x : params.w;
    const std::uint32_t row = is_x ? work.row + in_stage : work.column + in_stage - kTileRows;
    const bool is_inside = row < (is_x ? work.rows : params.n) && k < work.k_end;
    const std::uint64_t piece = sk::Index((std::uint64_t{row} * params.k + k) / 8);
    const std::uint16_t* source = is_inside ? matrix + piece * 8 : matrix;
    const std::uint32_t row_to = sk::Index(in_stage);
    const std::uint32_t chunk_to = sk::Index(chunk);
    sk::CopyAsyncZeroFill<16>(stage + Swizzled(row_to, chunk_to), source, is_inside ? 16 : 0);
  }
}

// One step's products: 16 of k at a time, in order.
template <std::uint32_t kTileRows>
SK_DEVICE void MultiplyStep(sk::SharedAddress stage, std::uint32_t warp_row,
                            std::uint32_t warp_column,
                            float (&sums)[Tile<kTileRows>::kBands][4][4]) {
  const std::uint32_t lane = sk::LaneIndex();
  const sk::SharedAddress tile_w = stage + kTileRows * kRowBytes;
  SK_UNROLL
  for (std::uint32_t k = 0; k < kLinearStepDepth / 16; ++k) {
    std::uint32_t b[2][4];  // two columns' octets each: {low k, high k} of one, then of the other
    SK_UNROLL
    for (std::uint32_t pair = 0; pair < 2; ++pair) {
      const std::uint32_t row = sk::Index(warp_column + pair * 16 + lane / 16 * 8 + lane % 8);
      const std::uint32_t chunk = sk::Index(2 * k + lane / 8 % 2);
      sk::LoadMatrix<4>(b[pair], tile_w + Swizzled(row, chunk));
    }
    SK_UNROLL
    for (std::uint32_t band = 0; band < Tile<kTileRows>::kBands; ++band) {
      std::uint32_t a[4];
      const std::uint32_t row = sk::Index(warp_row + band * 16 + lane % 16);
      const std::uint32_t chunk = sk::Index(2 * k + lane / 16);
      sk::LoadMatrix<4>(a, stage + Swizzled(row, chunk));
      SK_UNROLL
      for (std::uint32_t octet = 0; octet < 4; ++octet) {
        const std::uint32_t columns[2] = {b[octet / 2][octet % 2 * 2],
                                          b[octet / 2][octet % 2 * 2 + 1]};
        sk::MmaBf16(sums[band][octet], a, columns);
      }
    }
  }
}

// A split is over: its sums go onto the total, in index order. A total starts as -0, which changes
// no bit of what is added to it first.
template <std::uint32_t kBands>
SK_DEVICE void FoldSums(float (&total)[kBands][4][4], float (&sums)[kBands][4][4]) {
  SK_UNROLL
  for (std::uint32_t i = 0; i < kBands * 16; ++i) {
    float& sum = sums[i / 16][i / 4 % 4][i % 4];
    total[i / 16][i / 4 % 4][i % 4] += sum;
    sum = 0;
  }
}

template <std::uint32_t kTileRows>
SK_KERNEL void MultiplyTiles(LinearParams params) {
  using T = Tile<kTileRows>;
  Work work;
  work.rows = *params.row_count < params.rows_max ? *params.row_count : params.rows_max;
  work.row = sk::BlockIndexX() * kTileRows;  // neighbours share W's rows, in L2
  if (work.row >= work.rows) return;
  work.column = sk::BlockIndexY() * kLinearTileColumns;
  const LinearSplits splits = SplitsOf(params.n, params.k);
  const std::uint32_t split = sk::BlockIndexZ();
  work.k_begin = T::kFolds ? 0 : split * splits.depth;
  work.k_end =
      T::kFolds || params.k < work.k_begin + splits.depth ? params.k : work.k_begin + splits.depth;
  const std::uint32_t steps = (work.k_end - work.k_begin + kLinearStepDepth - 1) / kLinearStepDepth;
  const std::uint32_t split_steps = splits.depth / kLinearStepDepth;
  const sk::SharedAddress base = sk::ToShared(sk::SharedMemory());
  constexpr std::uint32_t kWarpsAcross = kLinearTileColumns / 32;
  const std::uint32_t warp_column = sk::WarpIndex() % kWarpsAcross * 32;
  const std::uint32_t warp_row = sk::WarpIndex() / kWarpsAcross * T::kWarpRows;
  // A warp that has only zeros to multiply leaves it: uniform in the warp.
  const bool is_needed = work.column + warp_column < params.n && work.row + warp_row < work.rows;
  float sums[T::kBands][4][4] = {}, total[T::kBands][4][4];
  SK_UNROLL
  for (std::uint32_t i = 0; i < T::kBands * 16; ++i) total[i / 16][i / 4 % 4][i % 4] = -0.0f;

  // Phase 1: fill all stages but one.
  for (std::uint32_t step = 0; step < kStages - 1; ++step) {
    if (step < steps) LoadStep<kTileRows>(params, work, base, step);
    sk::CommitCopies();
  }
  for (std::uint32_t step = 0; step < steps; ++step) {
    // Phase 2: this step's bytes are here for all threads, and all have left the step before, whose
    // stage is filled again.
    sk::WaitCopies<kStages - 2>();
    sk::SyncBlock();
    if (step + kStages - 1 < steps) {
      LoadStep<kTileRows>(params, work, base, step + kStages - 1);
    }
    sk::CommitCopies();
    // Phase 3: products.
    if (is_needed) {
      const sk::SharedAddress stage = base + sk::Index(step % kStages) * T::kStageBytes;
      MultiplyStep<kTileRows>(stage, warp_row, warp_column, sums);
    }
    if constexpr (T::kFolds) {
      if ((step + 1) % split_steps == 0 || step + 1 == steps) {
        FoldSums(total, sums);
      }
    }
  }

  // Phase 4: the way out, a pair of columns at a time.
  const std::uint32_t lane = sk::LaneIndex();
  SK_UNROLL
  for (std::uint32_t i = 0; i < T::kBands * 8; ++i) {
    const std::uint32_t band = i / 8, octet = i / 2 % 4, half = i % 2;
    const std::uint32_t row = work.row + warp_row + band * 16 + lane / 4 + half * 8;
    const std::uint32_t column = work.column + warp_column + octet * 8 + lane % 4 * 2;
    if (row >= work.rows) continue;
    const float(&all)[4] = T::kFolds ? total[band][octet] : sums[band][octet];
    const SumPair pair = {all[2 * half], all[2 * half + 1]};
    if (T::kFolds || splits.count == 1) {
      StoreSums(params, row, column, pair);
    } else {
      StorePartials(params, split, row, column, pair);
    }
  }
}

constexpr std::uint32_t kFoldThreads = 128;

// Partial sums of the splits, added in index order. A thread a pair of columns.
SK_KERNEL void FoldPartials(LinearParams params) {
  const std::uint32_t row = sk::BlockIndexY();
  const std::uint32_t column = (sk::BlockIndexX() * kFoldThreads + sk::ThreadIndex()) * 2;
  if (row < *params.row_count && column < params.n) FoldPair(params, row, column);
}

template <std::uint32_t kTileRows>
rt::Status LaunchTiles(rt::Stream& stream, const LinearParams& params) {
  using T = Tile<kTileRows>;
  return rt::Launch(stream,
                    {.blocks_x = (params.rows_max + kTileRows - 1) / kTileRows,
                     .blocks_y = (params.n + kLinearTileColumns - 1) / kLinearTileColumns,
                     .blocks_z = T::kFolds ? 1 : SplitsOf(params.n, params.k).count,
                     .threads = T::kThreads,
                     .shared_bytes = T::kSharedBytes},
                    MultiplyTiles<kTileRows>, params);
}

bool IsAligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

}  // namespace

std::size_t LinearPartialsBytes(std::uint32_t n, std::uint32_t k, std::uint32_t rows_max) {
  const std::uint32_t count = SplitsOf(n, k).count;
  if (count == 1 || rows_max > kFewRowsMax) return 0;
  return std::size_t{count} * rows_max * n * sizeof(float);
}

std::string Validate(const LinearParams& params) {
  const auto wrong = [](const char* field, std::uint64_t value, const char* wanted) {
    return std::string("linear: ") + field + " is " + std::to_string(value) + ", not " + wanted;
  };
  if (params.k == 0 || params.k % 16 != 0 || params.k > 1u << 24) {
    return wrong("k", params.k, "a multiple of 16 up to 2^24");
  }
  if (params.n == 0 || params.n > 65535 * kLinearTileColumns) {
    return wrong("n", params.n, "within 1 to 65535 tiles of 128");
  }
  if (params.rows_max == 0 || params.rows_max > 65535) {
    return wrong("rows_max", params.rows_max, "within 1 to 65535");
  }
  if (params.x == nullptr || params.w == nullptr || params.y == nullptr ||
      params.row_count == nullptr) {
    return "linear: a pointer is null";
  }
  if (!IsAligned(params.x) || !IsAligned(params.w)) {
    return "linear: x or w is not 16-byte aligned";
  }
  if (params.partials == nullptr && LinearPartialsBytes(params.n, params.k, params.rows_max) > 0) {
    return "linear: partials is null";
  }
  return "";
}

rt::Status Multiply(rt::Stream& stream, const LinearParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  if (params.rows_max > kFewRowsMax) return LaunchTiles<128>(stream, params);
  rt::Status status =
      params.rows_max <= 16 ? LaunchTiles<16>(stream, params) : LaunchTiles<64>(stream, params);
  if (!status.ok() || SplitsOf(params.n, params.k).count == 1) return status;
  return rt::Launch(stream,
                    {.blocks_x = (params.n + 2 * kFoldThreads - 1) / (2 * kFoldThreads),
                     .blocks_y = params.rows_max,
                     .threads = kFoldThreads},
                    FoldPartials, params);
}

}  // namespace cairn::kernels
