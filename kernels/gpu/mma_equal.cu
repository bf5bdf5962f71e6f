#include "kernels/gpu/mma_equal.h"

#include "kernels/sk/sk.h"

namespace cairn::gpu {
namespace {

constexpr std::uint32_t kThreads = 128;

// The 4-byte word of values 2 pair and 2 pair + 1 of a row.
SK_DEVICE std::uint32_t WordOf(const std::uint16_t* rows, std::uint32_t k, std::uint32_t row,
                               std::uint32_t pair) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(rows);
  return words[sk::Index(std::uint64_t{row} * (k / 2) + pair)];
}

struct EqualTile {
  const std::uint16_t* a;
  const std::uint16_t* b;
  const float* start;
  std::uint64_t first;  // of its sums
};

// Fragment A of step `step`; row r of the fragment is row `rows` + (r + shift) % 16 of the tile.
SK_DEVICE void LoadA(const EqualTile& tile, std::uint32_t k, std::uint32_t rows,
                     std::uint32_t shift, std::uint32_t step, std::uint32_t (&a)[4]) {
  const std::uint32_t g = sk::LaneIndex() / 4, t = sk::LaneIndex() % 4;
  SK_UNROLL
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t row = rows + (g + i % 2 * 8 + shift) % 16;
    a[i] = WordOf(tile.a, k, row, step * 8 + i / 2 * 4 + t);
  }
}

// All columns of this warp's 16 rows by mma.sync; kSum says how.
template <std::uint32_t kN, EqualSum kSum>
SK_DEVICE void SumByMma(const EqualParams& params, const EqualTile& tile, float* sums) {
  constexpr std::uint32_t kRowShift = kSum == kMoved ? 5 : 0, kColumnShift = kSum == kMoved ? 3 : 0;
  const std::uint32_t g = sk::LaneIndex() / 4, t = sk::LaneIndex() % 4;
  const std::uint32_t rows = sk::WarpIndex() * 16;
  for (std::uint32_t columns = 0; columns < kN; columns += 8) {
    std::uint32_t at[4];
    float c[4];
    SK_UNROLL
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t row = rows + (g + i / 2 * 8 + kRowShift) % 16;
      at[i] = row * kN + columns + (2 * t + i % 2 + kColumnShift) % 8;
      c[i] = tile.start[sk::Index(at[i])];
    }
    for (std::uint32_t step = 0; step < params.k / 16; ++step) {
      std::uint32_t a[4], b[2];
      LoadA(tile, params.k, rows, kRowShift, step, a);
      SK_UNROLL
      for (std::uint32_t i = 0; i < 2; ++i) {
        const std::uint32_t column = columns + (g + kColumnShift) % 8;
        b[i] = WordOf(tile.b, params.k, column, step * 8 + i * 4 + t);
      }
      sk::MmaBf16(c, a, b);
      if constexpr (kSum == kZeros) sk::MmaBf16(c, a, {0, 0});
    }
    SK_UNROLL
    for (std::uint32_t i = 0; i < 4; ++i) sums[sk::Index(at[i])] = c[i];
  }
}

template <std::uint32_t kN>
SK_DEVICE void SumByChain(const EqualParams& params, const EqualTile& tile, float* sums) {
  for (std::uint32_t i = sk::ThreadIndex(); i < kEqualRows * kN; i += kThreads) {
    float sum = tile.start[sk::Index(i)];
    for (std::uint32_t pair = 0; pair < params.k / 2; ++pair) {
      const std::uint32_t a = WordOf(tile.a, params.k, i / kN, pair);
      const std::uint32_t b = WordOf(tile.b, params.k, i % kN, pair);
      sum = sk::Fma(sk::LowBf16(a), sk::LowBf16(b), sum);
      sum = sk::Fma(sk::HighBf16(a), sk::HighBf16(b), sum);
    }
    sums[sk::Index(i)] = sum;
  }
}

// Rows of 16 values as chunks of eight rows and 16 bytes, by all threads.
template <std::uint32_t kRows>
SK_DEVICE void StoreChunks(const std::uint16_t* rows, std::uint32_t k, std::uint32_t step,
                           std::byte* target) {
  for (std::uint32_t i = sk::ThreadIndex(); i < kRows * 2; i += kThreads) {
    const std::uint32_t row = i / 2, half = i % 2;
    const std::uint64_t from = sk::Index(std::uint64_t{row} * (k / 8) + step * 2 + half);
    const std::uint32_t to = sk::Index(row / 8 * 16 + half * 8 + row % 8);
    sk::Store16(target + to * 16, sk::Load16(rows + from * 8));
  }
}

template <int kN, bool kIsRegisterA>
SK_DEVICE void SumByWgmma(const EqualParams& params, const EqualTile& tile, float* sums) {
  const std::uint32_t g = sk::LaneIndex() / 4, t = sk::LaneIndex() % 4;
  const std::uint32_t rows = sk::WarpIndex() * 16;
  std::byte* tile_a = sk::SharedMemory();
  std::byte* tile_b = tile_a + kEqualRows * 32;
  const sk::MatrixDescriptor a =
      sk::Describe({.start = sk::ToShared(tile_a), .leading_bytes = 128, .stride_bytes = 256});
  const sk::MatrixDescriptor b =
      sk::Describe({.start = sk::ToShared(tile_b), .leading_bytes = 128, .stride_bytes = 256});
  float d[kN / 2];
  SK_UNROLL
  for (std::uint32_t i = 0; i < kN / 2; ++i) {
    const std::uint32_t at = (rows + g + i / 2 % 2 * 8) * kN + i / 4 * 8 + 2 * t + i % 2;
    d[i] = tile.start[sk::Index(at)];
  }
  std::uint32_t fragment[4];
  for (std::uint32_t step = 0; step < params.k / 16; ++step) {
    StoreChunks<kEqualRows>(tile.a, params.k, step, tile_a);
    StoreChunks<kN>(tile.b, params.k, step, tile_b);
    if constexpr (kIsRegisterA) LoadA(tile, params.k, rows, 0, step, fragment);
    sk::FenceProxyAsync();
    sk::SyncBlock();
    sk::WgmmaFence();
    if constexpr (kIsRegisterA) {
      sk::Wgmma<kN, sk::InputType::kBf16, sk::Major::kK>(d, fragment, b, true);
    } else {
      sk::Wgmma<kN, sk::InputType::kBf16, sk::Major::kK, sk::Major::kK>(d, a, b, true);
    }
    sk::WgmmaCommit();
    sk::WgmmaWait<0>();
    sk::SyncBlock();  // the tiles are stored anew
  }
  SK_UNROLL
  for (std::uint32_t i = 0; i < kN / 2; ++i) {
    const std::uint32_t at = (rows + g + i / 2 % 2 * 8) * kN + i / 4 * 8 + 2 * t + i % 2;
    sums[sk::Index(at)] = d[i];
  }
}

template <int kN, bool kIsRegisterA>
SK_KERNEL void EqualSumsOfTile(EqualParams params) {
  const std::uint64_t index = sk::BlockIndexX();
  constexpr std::uint32_t kValues = kEqualRows * kN;
  EqualTile tile;
  tile.a = params.a + sk::Index(index) * kEqualRows * params.k;
  tile.b = params.b + sk::Index(index) * kN * params.k;
  tile.start = params.start + sk::Index(index) * kValues;
  tile.first = sk::Index(index) * kValues;
  const std::uint64_t all = std::uint64_t{params.tiles} * kValues;
  float* sums = params.sums + tile.first;
  SumByMma<kN, kByMma>(params, tile, sums + sk::Index(std::uint64_t{kByMma}) * all);
  SumByMma<kN, kMoved>(params, tile, sums + sk::Index(std::uint64_t{kMoved}) * all);
  SumByMma<kN, kZeros>(params, tile, sums + sk::Index(std::uint64_t{kZeros}) * all);
  SumByChain<kN>(params, tile, sums + sk::Index(std::uint64_t{kByChain}) * all);
  SumByWgmma<kN, kIsRegisterA>(params, tile, sums + sk::Index(std::uint64_t{kByWgmma}) * all);
}

}  // namespace

rt::Status RunEqual(rt::Stream& stream, EqualVariant variant, const EqualParams& params) {
  if (params.k == 0 || params.k % 16 != 0) {
    return rt::Status("mma_equal: k is " + std::to_string(params.k) + ", not a multiple of 16");
  }
  const rt::LaunchConfig config{.blocks_x = params.tiles,
                                .threads = kThreads,
                                .shared_bytes = (kEqualRows + ColumnsOf(variant)) * 32};
  switch (variant) {
    case EqualVariant::kN8:
      return rt::Launch(stream, config, EqualSumsOfTile<8, false>, params);
    case EqualVariant::kN64:
      return rt::Launch(stream, config, EqualSumsOfTile<64, false>, params);
    case EqualVariant::kN64Registers:
      return rt::Launch(stream, config, EqualSumsOfTile<64, true>, params);
    case EqualVariant::kN256:
      return rt::Launch(stream, config, EqualSumsOfTile<256, false>, params);
  }
  return rt::Status("mma_equal: no such variant");
}

}  // namespace cairn::gpu
