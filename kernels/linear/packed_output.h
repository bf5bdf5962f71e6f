#ifndef CAIRN_KERNELS_LINEAR_PACKED_OUTPUT_H_
#define CAIRN_KERNELS_LINEAR_PACKED_OUTPUT_H_

#include "kernels/linear/output.h"
#include "kernels/linear/partials.h"
#include "kernels/sk/sk.h"

// From wgmma's accumulators, whose rows are columns of y, into y or the partial sums of a split.

namespace cairn::kernels {

// Pairs of columns into rows that begin at even places, in one access each: as StoreSums does, with
// what all pairs have in common found before the first.
template <LinearOutput kOutput>
struct EvenPairs {
  void* rows;           // y, or a split's partial sums
  std::uint64_t first;  // of the thread's pairs, in pairs
  std::uint32_t row_pairs;
  SK_DEVICE std::uint64_t At(std::uint32_t row_on, std::uint32_t column_on) const {
    return first + std::uint64_t{row_on} * row_pairs + column_on / 2;
  }
  // What a sum is added to.
  SK_DEVICE SumPair Load(std::uint32_t row_on, std::uint32_t column_on) const {
    if constexpr (kOutput != LinearOutput::kAddF32) return {};
    return static_cast<const SumPair*>(rows)[sk::Index(At(row_on, column_on))];
  }
  SK_DEVICE void Store(std::uint32_t row_on, std::uint32_t column_on, SumPair sum,
                       SumPair held) const {
    const std::uint64_t at = sk::Index(At(row_on, column_on));
    if constexpr (kOutput == LinearOutput::kBf16) {
      static_cast<std::uint32_t*>(rows)[at] = sk::PackBf16(sum.low, sum.high);
    } else {
      if (kOutput == LinearOutput::kAddF32) sum = {held.low + sum.low, held.high + sum.high};
      static_cast<SumPair*>(rows)[at] = sum;
    }
  }
};
// Into any rows.
struct AnyPairs {
  const LinearParams& params;
  std::uint32_t row, column;  // of the thread's first pair
  std::uint32_t split;
  bool is_partial;
  SK_DEVICE SumPair Load(std::uint32_t, std::uint32_t) const { return {}; }
  SK_DEVICE void Store(std::uint32_t row_on, std::uint32_t column_on, SumPair sum, SumPair) const {
    if (is_partial) {
      StorePartials(params, split, row + row_on, column + column_on, sum);
    } else {
      StoreSums(params, row + row_on, column + column_on, sum);
    }
  }
};

// A thread has pairs of rows of a column: it swaps a row with the lane of the neighbouring column
// (4 lanes on), and has pairs of columns of a row. What they are added to is loaded for many of
// them at once, since a compiler does not move a load before a store.
template <std::uint32_t kTileRows, class Pairs>
SK_DEVICE void StorePairs(const Pairs& pairs, const float (&sums)[kTileRows / 2],
                          std::uint32_t rows, std::uint32_t columns) {
  constexpr std::uint32_t kPairs = kTileRows / 4;
  constexpr std::uint32_t kAtOnce = kPairs < 16 ? kPairs : kPairs % 12 == 0 ? 8 : 16;
  static_assert(kPairs % kAtOnce == 0);
  const bool is_odd = sk::LaneIndex() / 4 % 2 != 0;
  SK_UNROLL
  for (std::uint32_t begin = 0; begin < kPairs; begin += kAtOnce) {
    SumPair held[kAtOnce] = {};
    SK_UNROLL
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      const std::uint32_t row_on = (begin + i) / 2 * 8, column_on = i % 2 * 8;
      if (row_on < rows && column_on < columns) held[i] = pairs.Load(row_on, column_on);
    }
    SK_UNROLL
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      const std::uint32_t row_on = (begin + i) / 2 * 8, column_on = i % 2 * 8;
      const float even = sums[2 * (begin + i)], odd = sums[2 * (begin + i) + 1];
      const float other = sk::ShuffleXor(is_odd ? even : odd, 4);
      const SumPair sum = is_odd ? SumPair{other, odd} : SumPair{even, other};
      if (row_on < rows && column_on < columns) pairs.Store(row_on, column_on, sum, held[i]);
    }
  }
}

// A warpgroup's part of a tile: 64 columns of y from `column` on, by kTileRows rows from `row` on.
struct PackedPlace {
  std::uint32_t row, column;
  std::uint32_t rows;   // there are, in all
  std::uint32_t split;  // whose partial sums these are
  bool is_partial;
};

// The way out for the accumulators of m64nNk16, N = kTileRows.
template <std::uint32_t kTileRows>
SK_DEVICE void StorePlace(const LinearParams& params, const PackedPlace& place,
                          const float (&sums)[kTileRows / 2]) {
  const std::uint32_t lane = sk::LaneIndex();
  const std::uint32_t row = place.row + lane % 4 * 2 + lane / 4 % 2;
  const std::uint32_t column = place.column + sk::WarpIndex() % 4 * 16 + lane / 8 * 2;
  // There are so many from this thread's first on.
  const std::uint32_t rows = row < place.rows ? place.rows - row : 0;
  const std::uint32_t columns = column < params.n ? params.n - column : 0;
  if (params.n % 2 != 0) {
    const AnyPairs pairs{params, row, column, place.split, place.is_partial};
    StorePairs<kTileRows>(pairs, sums, rows, columns);
    return;
  }
  const std::uint32_t row_pairs = params.n / 2;
  const std::uint64_t first = std::uint64_t{row} * row_pairs + column / 2;
  if (place.is_partial) {
    const std::uint64_t before = std::uint64_t{place.split} * params.rows_max * row_pairs;
    const EvenPairs<LinearOutput::kF32> pairs{params.partials, before + first, row_pairs};
    StorePairs<kTileRows>(pairs, sums, rows, columns);
  } else if (params.output == LinearOutput::kF32) {
    const EvenPairs<LinearOutput::kF32> pairs{params.y, first, row_pairs};
    StorePairs<kTileRows>(pairs, sums, rows, columns);
  } else if (params.output == LinearOutput::kBf16) {
    const EvenPairs<LinearOutput::kBf16> pairs{params.y, first, row_pairs};
    StorePairs<kTileRows>(pairs, sums, rows, columns);
  } else {
    const EvenPairs<LinearOutput::kAddF32> pairs{params.y, first, row_pairs};
    StorePairs<kTileRows>(pairs, sums, rows, columns);
  }
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_LINEAR_PACKED_OUTPUT_H_
