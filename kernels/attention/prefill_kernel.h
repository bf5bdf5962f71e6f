#ifndef CAIRN_KERNELS_ATTENTION_PREFILL_KERNEL_H_
#define CAIRN_KERNELS_ATTENTION_PREFILL_KERNEL_H_

#include "kernels/attention/prefill.h"
#include "kernels/attention/row_program.h"
#include "kernels/attention/tile_memory.h"
#include "kernels/attention/turn_query.h"

// The prefill kernel: a block of four warps has up to 64 rows of one query head, warp w the rows
// 16w to 16w + 15, and goes through the tiles that any of them sees, one tile of copies ahead. A
// row is what it is in decode (row_program.h). In a lane [2]: rows g and g + 8 of its warp's.

namespace cairn::kernels {

// Shared memory: two stages of K and V, the queries, and where registers are short the rows' folded
// splits (each lane its own). Bytes.
template <std::uint32_t kDim>
struct PrefillMemory {
  static constexpr bool kIsWide = kDim > 128;
  static constexpr std::uint32_t kTileBytes = kTileTokens * kDim * 2;
  static constexpr std::uint32_t kValues = kTileBytes;
  static constexpr std::uint32_t kStageBytes = 2 * kTileBytes;
  static constexpr std::uint32_t kQuery = 2 * kStageBytes;
  static constexpr std::uint32_t kTotals = kQuery + kQueryTileRows * kDim * 2;
  static constexpr std::uint32_t kBytes = kTotals + (kIsWide ? kQueryTileRows * kDim * 4 : 0);
  static constexpr std::uint32_t kBlocks = kDim == 64 ? 3 : kDim == 128 ? 2 : 1;  // of an SM
  static_assert(kBlocks * (kBytes + 1024) <= 228 * 1024);
};

// What a row sees.
struct RowView {
  std::uint32_t tile_count = 0;
  std::uint32_t last_tokens = 0;

  SK_DEVICE std::uint32_t Visible(std::uint32_t tile, std::uint32_t tokens) const {
    if (tile >= tile_count) return 0;
    return tile + 1 == tile_count ? last_tokens : tokens;
  }
};

// A lane's part of 16 rows' output, kept until all splits are folded: in registers, or where those
// are short in shared memory.
template <std::uint32_t kDim, bool kIsInShared>
class RowTotals {
 public:
  SK_DEVICE explicit RowTotals(std::byte*) {
    SK_UNROLL
    for (std::uint32_t i = 0; i < kDim / 2; ++i) values_[i] = 0;
  }
  SK_DEVICE float Get(std::uint32_t i) const { return values_[i]; }
  SK_DEVICE void Set(std::uint32_t i, float value) { values_[i] = value; }

 private:
  float values_[kDim / 2];
};
template <std::uint32_t kDim>
class RowTotals<kDim, true> {
 public:
  SK_DEVICE explicit RowTotals(std::byte* memory)
      : values_(reinterpret_cast<float*>(memory) + sk::ThreadIndex()) {
    SK_UNROLL
    for (std::uint32_t i = 0; i < kDim / 2; ++i) Set(i, 0);
  }
  SK_DEVICE float Get(std::uint32_t i) const { return values_[sk::Index(i) * kTileThreads]; }
  SK_DEVICE void Set(std::uint32_t i, float value) { values_[sk::Index(i) * kTileThreads] = value; }

 private:
  float* values_;
};

// Rotates the queries of `tile` into shared memory. Rows that there are not stay as they are: what
// they give is not stored.
template <class Element, std::uint32_t kDim>
SK_DEVICE void TurnTileQueries(const AttendParams& params, const QueryTile& tile,
                               std::uint32_t q_head, std::byte* query) {
  const QueryRows rows = {tile.first_row, tile.row_count, q_head, sk::ThreadIndex(), kTileThreads};
  TurnQueryRows<Element, 1>(params, rows, [&](std::uint32_t row, std::uint32_t word) {
    return reinterpret_cast<std::uint32_t*>(query + WordOffset<kDim>(row, word));
  });
}

// Starts the copies of a tile into its stage.
template <std::uint32_t kDim>
SK_DEVICE void IssuePrefillTile(const RotateParams& keys, const TileSource& source,
                                std::uint32_t tile, std::uint32_t head, std::byte* stage) {
  const sk::SharedAddress base = sk::ToShared(stage);
  CopyScratchRows<kDim>(ScratchTile(keys, tile, head), base);
  CopyPoolRows<kDim>(source, ValueOffset(keys), base + PrefillMemory<kDim>::kValues);
  sk::CommitCopies();
}

// The warp's queries as rows of a product: loaded anew for each tile, since registers are short.
template <std::uint32_t kDim>
SK_DEVICE void LoadQueryFragments(const std::byte* query, std::uint32_t step,
                                  std::uint32_t (&fragments)[4]) {
  const std::uint32_t lane = sk::LaneIndex();
  const std::uint32_t row = sk::Index(16 * sk::WarpIndex() + lane % 16);
  const std::uint32_t piece = sk::Index(step * 2 + lane / 16);
  sk::LoadMatrix<4>(fragments, sk::ToShared(query) + PieceOffset<kDim>(row, piece));
}

// Scores of the warp's rows: [row][token's n and parity].
template <class Element, std::uint32_t kDim>
SK_DEVICE void ScoreRows(const std::byte* stage, const std::byte* query, float (&scores)[2][16]) {
  const sk::SharedAddress tile = sk::ToShared(stage);
  float products[8][4] = {};
  SK_UNROLL
  for (std::uint32_t step = 0; step < kDim / 16; ++step) {
    std::uint32_t q[4];
    LoadQueryFragments<kDim>(query, step, q);
    SK_UNROLL
    for (std::uint32_t n = 0; n < 8; n += 2) {
      std::uint32_t key[4];
      LoadKeyFragments<kDim>(tile, 8 * n, step, key);
      Element::Mma(products[n], q, {key[0], key[1]});
      Element::Mma(products[n + 1], q, {key[2], key[3]});
    }
  }
  SK_UNROLL
  for (std::uint32_t i = 0; i < 32; ++i) {
    scores[i / 2 % 2][i / 4 * 2 + i % 2] = products[i / 4][i % 4];
  }
}

// Weighs a tile for both of a lane's rows and adds its values.
template <class Element, std::uint32_t kDim>
SK_DEVICE void AddRowValues(const std::byte* stage, float factor, const std::uint32_t (&visible)[2],
                            float (&scores)[2][16], RowSoftmax (&rows)[2],
                            float (&out)[kDim / 8][4]) {
  std::uint32_t lower[8], upper[8];
  const float keep_lower = WeighTile<Element>(rows[0], scores[0], factor, visible[0], lower);
  const float keep_upper = WeighTile<Element>(rows[1], scores[1], factor, visible[1], upper);
  SK_UNROLL
  for (std::uint32_t i = 0; i < kDim / 2; ++i) {
    out[i / 4][i % 4] *= i % 4 < 2 ? keep_lower : keep_upper;
  }
  const sk::SharedAddress values = sk::ToShared(stage) + PrefillMemory<kDim>::kValues;
  SK_UNROLL
  for (std::uint32_t step = 0; step < 4; ++step) {
    const std::uint32_t a[4] = {lower[2 * step], upper[2 * step], lower[2 * step + 1],
                                upper[2 * step + 1]};
    SK_UNROLL
    for (std::uint32_t n = 0; n < kDim / 8; n += 2) {
      std::uint32_t v[4];
      LoadValueFragments<kDim>(values, step, n, v);
      Element::Mma(out[n], a, {v[0], v[1]});
      Element::Mma(out[n + 1], a, {v[2], v[3]});
    }
  }
}

// A lane's output i of both rows: n = i / 4, rows and columns as a product's fragment has them.
template <std::uint32_t kCount>
SK_DEVICE float& OutputAt(float (&out)[kCount][4], std::uint32_t i) {
  return out[i / 4][i % 4];
}
template <std::uint32_t kCount>
SK_DEVICE float& OutputAt(float (&out)[kCount], std::uint32_t i) {
  return out[i];
}

// Ends a split of both rows; the next one's output begins with zero again.
template <std::uint32_t kDim, class Output, class Totals>
SK_DEVICE void FoldRows(RowSoftmax (&rows)[2], Output& out, RowSoftmax (&totals)[2],
                        Totals& total_out) {
  SK_UNROLL
  for (std::uint32_t half = 0; half < 2; ++half) {
    rows[half].sum = SumOfQuad(rows[half].sum);
    const RowShares shares = FoldSplit(totals[half], rows[half]);
    SK_UNROLL
    for (std::uint32_t i = 0; i < kDim / 4; ++i) {
      const std::uint32_t at = i / 2 * 4 + half * 2 + i % 2;
      total_out.Set(at, FoldOutput(total_out.Get(at), OutputAt(out, at), shares));
    }
    rows[half] = RowSoftmax();
  }
}

struct WarpViews {
  RowView rows[2];            // the lane's
  std::uint32_t tile_count;   // what any row of the warp sees
  std::uint32_t block_tiles;  // ... of the block
};
SK_DEVICE WarpViews LoadViews(const AttendParams& params, const QueryTile& tile) {
  WarpViews views;
  const std::uint32_t lane = sk::LaneIndex();
  std::uint32_t most = 0;
  SK_UNROLL
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint32_t of_tile = 16 * sk::WarpIndex() + 8 * i + lane / 4;
    if (of_tile < tile.row_count) {
      const AttendRow& row = params.rows[sk::Index(tile.first_row + of_tile)];
      views.rows[i].tile_count = row.tile_count;
      views.rows[i].last_tokens = row.last_tokens;
    }
    if (32 * i + lane < tile.row_count) {
      const std::uint32_t count = params.rows[sk::Index(tile.first_row + 32 * i + lane)].tile_count;
      most = count > most ? count : most;
    }
  }
  const std::uint32_t lower = views.rows[0].tile_count, upper = views.rows[1].tile_count;
  views.tile_count = sk::ReduceMax(lower > upper ? lower : upper);
  views.block_tiles = sk::ReduceMax(most);
  return views;
}

template <std::uint32_t kDim, class Totals>
SK_DEVICE void StoreRows(const AttendParams& params, const QueryTile& tile, std::uint32_t q_head,
                         const RowSoftmax (&totals)[2], const Totals& total_out) {
  const std::uint32_t lane = sk::LaneIndex();
  SK_UNROLL
  for (std::uint32_t half = 0; half < 2; ++half) {
    const std::uint32_t of_tile = 16 * sk::WarpIndex() + 8 * half + lane / 4;
    if (of_tile >= tile.row_count) continue;
    const float scale = RowScale(totals[half]);
    const std::uint64_t row = std::uint64_t{tile.first_row + of_tile} * params.q_heads + q_head;
    auto* to = reinterpret_cast<FloatPair*>(params.out) + sk::Index(row) * (kDim / 2);
    SK_UNROLL
    for (std::uint32_t n = 0; n < kDim / 8; ++n) {
      const float low = EndOutput(total_out.Get(n * 4 + half * 2), scale);
      const float high = EndOutput(total_out.Get(n * 4 + half * 2 + 1), scale);
      to[sk::Index(n * 4 + lane % 4)] = {low, high};
    }
  }
}

template <class Element, std::uint32_t kDim>
SK_KERNEL_BLOCKS(kTileThreads, PrefillMemory<kDim>::kBlocks)
void PrefillRows(PrefillParams params) {
  using Memory = PrefillMemory<kDim>;
  const RotateParams& keys = params.rows.keys;
  const std::uint32_t count = *params.query_tile_count;
  if (sk::BlockIndexX() >= count) return;
  // The last rows of a list see the most: they go first.
  const QueryTile tile = params.query_tiles[sk::Index(count - 1 - sk::BlockIndexX())];
  const std::uint32_t q_head = sk::BlockIndexY();
  const std::uint32_t head = q_head / (params.rows.q_heads / keys.kv_heads);
  const std::uint32_t first = params.rows.rows[sk::Index(tile.first_row)].first_tile;
  const WarpViews views = LoadViews(params.rows, tile);
  std::byte* shared = sk::SharedMemory();
  std::byte* query = shared + Memory::kQuery;

  // Phase 1: the first tile's copies, and the queries beside them. Where the next tile lies is
  // asked for a tile early.
  TileSource source{};
  std::uint32_t next_tokens = 0;
  const auto issue = [&](std::uint32_t i) {
    if (i >= views.block_tiles) return;
    std::byte* stage = shared + sk::Index(i % 2) * Memory::kStageBytes;
    IssuePrefillTile<kDim>(keys, source, first + i, head, stage);
    next_tokens = source.tokens;
    if (i + 1 < views.block_tiles) source = FindTile(keys, first + i + 1, head);
  };
  if (views.block_tiles > 0) source = FindTile(keys, first, head);
  issue(0);
  TurnTileQueries<Element, kDim>(params.rows, tile, q_head, query);

  RowTotals<kDim, Memory::kIsWide> total_out(shared + Memory::kTotals);
  RowSoftmax rows[2], totals[2];
  float out[kDim / 8][4] = {};
  for (std::uint32_t i = 0; i < views.block_tiles; ++i) {
    const std::byte* stage = shared + sk::Index(i % 2) * Memory::kStageBytes;
    const std::uint32_t tokens = next_tokens;
    // Phase 2: this tile (and once the queries) is here for all, and all have left the tile before.
    sk::WaitCopies<0>();
    sk::SyncBlock();
    // Phase 3: the next tile's copies.
    issue(i + 1);
    // Phase 4: the tile, by the warps that see any of it.
    if (i < views.tile_count) {
      float scores[2][16];
      ScoreRows<Element, kDim>(stage, query, scores);
      const std::uint32_t visible[2] = {views.rows[0].Visible(i, tokens),
                                        views.rows[1].Visible(i, tokens)};
      AddRowValues<Element, kDim>(stage, params.rows.scale * kLog2E, visible, scores, rows, out);
    }
    // Phase 5: the end of a split.
    if (i % kSplitTiles == kSplitTiles - 1 || i + 1 == views.block_tiles) {
      FoldRows<kDim>(rows, out, totals, total_out);
      SK_UNROLL
      for (std::uint32_t at = 0; at < kDim / 2; ++at) OutputAt(out, at) = 0;
    }
  }
  StoreRows<kDim>(params.rows, tile, q_head, totals, total_out);
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_PREFILL_KERNEL_H_
