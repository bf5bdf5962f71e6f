#ifndef CAIRN_KERNELS_ATTENTION_DECODE_KERNEL_H_
#define CAIRN_KERNELS_ATTENTION_DECODE_KERNEL_H_

#include "kernels/attention/decode.h"
#include "kernels/attention/key_turns.h"
#include "kernels/attention/row_program.h"
#include "kernels/attention/tile_memory.h"
#include "kernels/attention/turn_query.h"

// The decode kernel. A block of four warps goes through the tiles of its items, kStages - 1 tiles
// of copies ahead of its arithmetic, across the borders of items.
//   scores:  warp w takes tokens 16w to 16w + 15 of every tile, so that R_l of its tokens stays in
//            registers; queries are the rows of the product (the upper 8 of 16 are zero), as in
//            prefill, so that both have the same instruction with the same operands.
//   weights: all scores go through shared memory; each warp weighs all of them (16 a lane).
//   output:  warp w takes a quarter of the dims, over all tokens.

namespace cairn::kernels {

inline constexpr std::uint32_t kGroupMax = 8;      // query heads of a KV head: rows of a product
inline constexpr std::uint32_t kScoreStride = 72;  // floats; 8 rows apart are different banks

// What the consumer has to know of a stage.
struct StagePlan {
  std::uint32_t item;
  std::uint32_t head;
  std::uint32_t visible;
  std::uint32_t ends;  // kFirst of its item, kLast of its item

  static constexpr std::uint32_t kFirst = 1, kLast = 2;
};

// Shared memory: kStages stages, then what is there once. Bytes.
template <std::uint32_t kDim>
struct DecodeMemory {
  static constexpr std::uint32_t kStages = kDim == 64 ? 4 : 3;
  static constexpr std::uint32_t kTileBytes = kTileTokens * kDim * 2;
  // Of a stage: K, V, R_p0's row of the table, and for the first tile of an item q and R_t's row.
  static constexpr std::uint32_t kValues = kTileBytes;
  static constexpr std::uint32_t kTileTurn = 2 * kTileBytes;
  static constexpr std::uint32_t kRawQuery = kTileTurn + kDim * 4;
  static constexpr std::uint32_t kQueryTurn = kRawQuery + kGroupMax * kDim * 2;
  static constexpr std::uint32_t kPlan = kQueryTurn + kDim * 4;
  static constexpr std::uint32_t kStageBytes = kPlan + sizeof(StagePlan);
  static constexpr std::uint32_t kQuery = kStages * kStageBytes;
  static constexpr std::uint32_t kScores = kQuery + kGroupMax * kDim * 2;
  static constexpr std::uint32_t kBytes = kScores + kGroupMax * kScoreStride * 4;
  static constexpr std::uint32_t kBlocks = kDim == 64 ? 3 : kDim == 128 ? 2 : 1;  // of an SM
  static_assert(kBlocks * (kBytes + 1024) <= 228 * 1024);
  static_assert(kStageBytes % 16 == 0 && kQuery % 16 == 0);
};

// The tiles of a block's items in order; what the next ones need is asked for early.
struct TileCursor {
  std::uint32_t unit;  // index * kv_heads + head
  std::uint32_t unit_count;
  std::uint32_t index;  // of the item
  std::uint32_t head;
  std::uint32_t at;  // in the item
  DecodeItem item;
  TileSource source;
  SK_DEVICE bool IsThere() const { return unit < unit_count; }
};

SK_DEVICE void FindItem(const DecodeParams& params, TileCursor& cursor) {
  cursor.at = 0;
  if (!cursor.IsThere()) return;
  cursor.index = cursor.unit / params.rows.keys.kv_heads;
  cursor.head = cursor.unit - cursor.index * params.rows.keys.kv_heads;
  cursor.item = params.items[sk::Index(cursor.index)];
}
SK_DEVICE void FindSource(const DecodeParams& params, TileCursor& cursor) {
  if (!cursor.IsThere()) return;
  const std::uint32_t tile = cursor.item.first_tile + cursor.at;
  cursor.source = FindTile(params.rows.keys, tile, cursor.head);
}
SK_DEVICE TileCursor FirstTile(const DecodeParams& params) {
  TileCursor cursor;
  const std::uint32_t wanted = *params.item_count;
  cursor.unit = sk::BlockIndexX();
  cursor.unit_count =
      (wanted < params.items_max ? wanted : params.items_max) * params.rows.keys.kv_heads;
  FindItem(params, cursor);
  FindSource(params, cursor);
  return cursor;
}
SK_DEVICE void Advance(const DecodeParams& params, TileCursor& cursor) {
  if (++cursor.at >= cursor.item.tile_count) {
    cursor.unit += sk::BlockCountX();
    FindItem(params, cursor);
  }
  FindSource(params, cursor);
}

// Starts the copy of a row of the table, in pieces of two turns.
SK_DEVICE void CopyTurns(const RotateParams& keys, std::uint32_t position,
                         sk::SharedAddress target) {
  const std::uint32_t i = sk::ThreadIndex(), pieces = keys.rotary_dim / 4;
  const std::uint64_t from = sk::Index(std::uint64_t{position} * pieces + i);
  const std::uint32_t to = sk::Index(i);
  if (i < pieces) sk::CopyAsync<16>(target + to * 16, keys.table + from * 4);
}

// Starts the copies of a tile into its stage.
template <std::uint32_t kDim, bool kIsTurned>
SK_DEVICE void IssueTile(const DecodeParams& params, const TileCursor& cursor, std::byte* stage) {
  using Memory = DecodeMemory<kDim>;
  const RotateParams& keys = params.rows.keys;
  const sk::SharedAddress base = sk::ToShared(stage);
  const bool is_first = cursor.at == 0, is_last = cursor.at + 1 == cursor.item.tile_count;
  if constexpr (kIsTurned) {
    const std::uint32_t tile = cursor.item.first_tile + cursor.at;
    CopyScratchRows<kDim>(ScratchTile(keys, tile, cursor.head), base);
  } else {
    CopyPoolRows<kDim>(cursor.source, 0, base);
    CopyTurns(keys, cursor.source.position, base + Memory::kTileTurn);
  }
  CopyPoolRows<kDim>(cursor.source, ValueOffset(keys), base + Memory::kValues);
  if (is_first) {
    const std::uint32_t group = params.rows.q_heads / keys.kv_heads;
    const std::uint64_t row =
        std::uint64_t{cursor.item.row} * params.rows.q_heads + cursor.head * group;
    for (std::uint32_t i = sk::ThreadIndex(); i < group * (kDim / 8); i += kTileThreads) {
      const std::uint64_t from = sk::Index(row * (kDim / 8) + i);
      const std::uint32_t to = sk::Index(i);
      sk::CopyAsync<16>(base + Memory::kRawQuery + to * 16, params.rows.q + from * 8);
    }
    CopyTurns(keys, cursor.item.position, base + Memory::kQueryTurn);
  }
  if (sk::ThreadIndex() == 0) {
    const std::uint32_t tokens = cursor.source.tokens, last = cursor.item.last_tokens;
    const std::uint32_t visible = is_last && last < tokens ? last : tokens;
    const std::uint32_t ends =
        (is_first ? StagePlan::kFirst : 0) | (is_last ? StagePlan::kLast : 0);
    *reinterpret_cast<StagePlan*>(stage + Memory::kPlan) = {cursor.index, cursor.head, visible,
                                                            ends};
  }
}

// Rotates the item's queries from its first stage, by all threads. Rows beyond the group stay as
// they are: what they give is not stored.
template <class Element, std::uint32_t kDim>
SK_DEVICE void TurnQueries(const AttendParams& params, const std::byte* stage, std::byte* query) {
  using Memory = DecodeMemory<kDim>;
  const auto* raw = reinterpret_cast<const std::uint32_t*>(stage + Memory::kRawQuery);
  const auto* turns = reinterpret_cast<const Turn*>(stage + Memory::kQueryTurn);
  const std::uint32_t group = params.q_heads / params.keys.kv_heads;
  const std::uint32_t units = QueryUnits(params.keys);
  for (std::uint32_t i = sk::ThreadIndex(); i < group * units; i += kTileThreads) {
    const std::uint32_t row = i / units;
    const auto put = [&](std::uint32_t word, std::uint32_t bits) {
      const std::uint32_t at = WordOffset<kDim>(sk::Index(row), word);
      *reinterpret_cast<std::uint32_t*>(query + at) = bits;
    };
    TurnQueryUnit<Element>(params.keys, raw + row * (kDim / 2), turns, i % units, put);
  }
}

// Scores of this warp's 16 tokens into shared memory.
template <class Element, std::uint32_t kDim, class Turns>
SK_DEVICE void ScoreTokens(const Turns& turns, const std::byte* stage, const std::byte* query,
                           std::byte* scores) {
  using Memory = DecodeMemory<kDim>;
  const std::uint32_t lane = sk::LaneIndex(), warp = sk::WarpIndex();
  const sk::SharedAddress tile = sk::ToShared(stage), rows = sk::ToShared(query);
  const auto* tile_turn = reinterpret_cast<const Turn*>(stage + Memory::kTileTurn);
  const auto load = [&](std::uint32_t step, std::uint32_t(&key)[4]) {
    LoadKeyFragments<kDim>(tile, 16 * warp, step, key);
  };
  typename Turns::Held held;
  float lower[4] = {}, upper[4] = {};
  std::uint32_t q[4];
  SK_UNROLL
  for (std::uint32_t step = 0; step < kDim / 16; ++step) {
    std::uint32_t key[4];
    turns.template LoadTurned<Element>(step, tile_turn, held, key, load);
    if (step % 2 == 0) {  // of two steps: the lower eight rows only
      const std::uint32_t row = sk::Index(lane % 8);
      const std::uint32_t piece = sk::Index(step * 2 + lane / 8);
      sk::LoadMatrix<4>(q, rows + PieceOffset<kDim>(row, piece));
    }
    const std::uint32_t a[4] = {q[step % 2 * 2], 0, q[step % 2 * 2 + 1], 0};
    Element::Mma(lower, a, {key[0], key[1]});
    Element::Mma(upper, a, {key[2], key[3]});
  }
  auto* row = reinterpret_cast<FloatPair*>(scores) + sk::Index(lane / 4) * (kScoreStride / 2);
  row[sk::Index(warp * 8 + lane % 4)] = {lower[0], lower[1]};
  row[sk::Index(warp * 8 + 4 + lane % 4)] = {upper[0], upper[1]};
}

// Weighs the tile's tokens and adds their values to this warp's quarter of the dims.
template <class Element, std::uint32_t kDim>
SK_DEVICE void AddValues(const std::byte* stage, const std::byte* scores, float factor,
                         std::uint32_t visible, RowSoftmax& row, float (&out)[kDim / 32][4]) {
  using Memory = DecodeMemory<kDim>;
  const std::uint32_t lane = sk::LaneIndex();
  const auto* of_row =
      reinterpret_cast<const FloatPair*>(scores) + sk::Index(lane / 4) * (kScoreStride / 2);
  float score[16];
  SK_UNROLL
  for (std::uint32_t n = 0; n < 8; ++n) {
    const FloatPair two = of_row[sk::Index(n * 4 + lane % 4)];
    score[2 * n] = two.x;
    score[2 * n + 1] = two.y;
  }
  std::uint32_t weights[8];
  const float keep = WeighTile<Element>(row, score, factor, visible, weights);
  SK_UNROLL
  for (std::uint32_t n = 0; n < kDim / 32; ++n) {
    out[n][0] *= keep;
    out[n][1] *= keep;
  }
  const sk::SharedAddress values = sk::ToShared(stage) + Memory::kValues;
  SK_UNROLL
  for (std::uint32_t step = 0; step < 4; ++step) {
    const std::uint32_t a[4] = {weights[2 * step], 0, weights[2 * step + 1], 0};
    SK_UNROLL
    for (std::uint32_t n = 0; n < kDim / 32; n += 2) {
      std::uint32_t v[4];
      LoadValueFragments<kDim>(values, step, sk::WarpIndex() * (kDim / 32) + n, v);
      Element::Mma(out[n], a, {v[0], v[1]});
      Element::Mma(out[n + 1], a, {v[2], v[3]});
    }
  }
}

template <std::uint32_t kDim>
SK_DEVICE void StorePartial(const DecodeParams& params, const StagePlan& plan,
                            const RowSoftmax& row, const float (&out)[kDim / 32][4]) {
  const std::uint32_t q_heads = params.rows.q_heads, group = q_heads / params.rows.keys.kv_heads;
  const std::uint32_t lane = sk::LaneIndex();
  const float sum = SumOfQuad(row.sum);
  if (lane / 4 >= group) return;
  const std::uint32_t q_head = plan.head * group + lane / 4;
  const std::uint64_t at = std::uint64_t{plan.item} * q_heads + q_head;
  auto* to = reinterpret_cast<FloatPair*>(params.partial_out) + sk::Index(at) * (kDim / 2);
  SK_UNROLL
  for (std::uint32_t n = 0; n < kDim / 32; ++n) {
    const std::uint32_t dims = sk::WarpIndex() * (kDim / 8) + n * 4 + lane % 4;
    to[sk::Index(dims)] = {out[n][0], out[n][1]};
  }
  if (sk::WarpIndex() != 0 || lane % 4 != 0) return;
  reinterpret_cast<FloatPair*>(params.partial_softmax)[sk::Index(at)] = {row.most, sum};
}

// Turns: KeyTurns of the pool's keys, or NoTurns of the scratch's.
template <class Element, std::uint32_t kDim, class Turns>
SK_KERNEL_BLOCKS(kTileThreads, DecodeMemory<kDim>::kBlocks)
void DecodeSplits(DecodeParams params) {
  using Memory = DecodeMemory<kDim>;
  std::byte* shared = sk::SharedMemory();
  std::byte* query = shared + Memory::kQuery;
  std::byte* scores = shared + Memory::kScores;
  const float factor = params.rows.scale * kLog2E;
  Turns turns;
  turns.Load(params.rows.keys);

  // Phase 1: fill all stages but one.
  TileCursor next = FirstTile(params);
  std::uint32_t issued = 0;
  const auto issue = [&] {
    if (next.IsThere()) {
      std::byte* stage = shared + sk::Index(issued % Memory::kStages) * Memory::kStageBytes;
      IssueTile<kDim, Turns::kIsTurned>(params, next, stage);
      Advance(params, next);
      ++issued;
    }
    sk::CommitCopies();
  };
  for (std::uint32_t i = 0; i + 1 < Memory::kStages; ++i) issue();

  RowSoftmax row;
  float out[kDim / 32][4];
  for (std::uint32_t step = 0; step < issued; ++step) {
    // Phase 2: this tile's bytes are here for all threads, and all have left the tile before.
    sk::WaitCopies<Memory::kStages - 2>();
    sk::SyncBlock();
    // Phase 3: refill the stage that the tile before has left.
    issue();
    const std::byte* stage = shared + sk::Index(step % Memory::kStages) * Memory::kStageBytes;
    const StagePlan plan = *reinterpret_cast<const StagePlan*>(stage + Memory::kPlan);
    // Phase 4: a new item.
    if ((plan.ends & StagePlan::kFirst) != 0) {
      TurnQueries<Element, kDim>(params.rows, stage, query);
      sk::SyncBlock();
      row = RowSoftmax();
      SK_UNROLL
      for (std::uint32_t i = 0; i < kDim / 8; ++i) out[i / 4][i % 4] = 0;
    }
    // Phase 5: the tile.
    ScoreTokens<Element, kDim>(turns, stage, query, scores);
    sk::SyncBlock();
    AddValues<Element, kDim>(stage, scores, factor, plan.visible, row, out);
    if ((plan.ends & StagePlan::kLast) != 0) StorePartial<kDim>(params, plan, row, out);
  }
}

// Folds the splits of one (row, query head) in order, a dim a thread.
template <std::uint32_t kDim>
SK_KERNEL void MergeSplits(DecodeParams params) {
  if (sk::BlockIndexX() >= *params.rows.row_count) return;
  const std::uint32_t tiles = params.rows.rows[sk::Index(sk::BlockIndexX())].tile_count;
  const std::uint32_t first = params.first_items[sk::Index(sk::BlockIndexX())];
  const std::uint32_t q_heads = params.rows.q_heads, q_head = sk::BlockIndexY();
  const auto* softmax = reinterpret_cast<const FloatPair*>(params.partial_softmax);
  const std::uint32_t splits = (tiles + kSplitTiles - 1) / kSplitTiles;
  if (std::uint64_t{first} + splits > params.items_max) return;
  RowSoftmax total;
  float out = 0;
  for (std::uint32_t i = 0; i < splits; ++i) {
    const std::uint64_t at = sk::Index(std::uint64_t{first + i} * q_heads + q_head);
    const FloatPair of_split = softmax[at];
    const float of_dim = params.partial_out[sk::Index(at * kDim + sk::ThreadIndex())];
    const RowShares shares = FoldSplit(total, {of_split.x, of_split.y});
    out = FoldOutput(out, of_dim, shares);
  }
  const std::uint64_t at = std::uint64_t{sk::BlockIndexX()} * q_heads + q_head;
  params.rows.out[sk::Index(at * kDim + sk::ThreadIndex())] = EndOutput(out, RowScale(total));
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_DECODE_KERNEL_H_
