#ifndef CAIRN_KERNELS_ATTENTION_PREFILL_WGMMA_KERNEL_H_
#define CAIRN_KERNELS_ATTENTION_PREFILL_WGMMA_KERNEL_H_

#include "kernels/attention/prefill_kernel.h"
#include "kernels/attention/prefill_wgmma.h"

// The prefill kernel on wgmma: a block has up to 128 rows of one query head, 64 for each of two
// consuming warpgroups, and a warpgroup behind them of which one thread copies the tiles that any
// row sees, K' and V apart, a bulk copy each. Where registers are short (kDim 256) there is one
// consuming warpgroup, and its totals are in shared memory. In a lane [2]: rows g and g + 8 of its
// warp's 16.

namespace cairn::kernels {

// Shared memory: the queries of each consuming warpgroup, stages of K' and V, totals if they are
// here, mbarriers. Bytes; boxes (swizzle_tiles.h) start at multiples of 1024.
template <std::uint32_t kDim>
struct WgmmaMemory {
  static constexpr bool kIsWide = kDim > 128;
  static constexpr std::uint32_t kGroups = kIsWide ? 1 : 2;  // consuming warpgroups
  static constexpr std::uint32_t kGroupRows = 64;
  static constexpr std::uint32_t kThreads = (kGroups + 1) * sk::kWarpgroupThreads;
  // Of a thread: at the start, then of those that consume and of those that copy.
  static constexpr std::uint32_t kRegisters = 168;
  static constexpr int kConsumerRegisters = 240;
  static constexpr int kProducerRegisters = kIsWide ? 96 : 24;
  static_assert(kGroups * kConsumerRegisters + kProducerRegisters <= (kGroups + 1) * kRegisters);
  static_assert(kRegisters * kThreads <= 65536);

  static constexpr std::uint32_t kOperandBytes = OperandBytes(kDim);  // also of 64 queries
  static constexpr std::uint32_t kStages = kIsWide ? 2 : 4;
  static constexpr std::uint32_t kStage = kGroups * kOperandBytes;
  static constexpr std::uint32_t kTotals = kStage + kStages * 2 * kOperandBytes;
  static constexpr std::uint32_t kBarriers = kTotals + (kIsWide ? kGroupRows * kDim * 4 : 0);
  static constexpr std::uint32_t kBarriersOfStage = 4 * sk::kMbarrierBytes;
  static constexpr std::uint32_t kBytes = kBarriers + kStages * kBarriersOfStage;
  static_assert(kGroups * kGroupRows == WgmmaQueryTileRows(kDim));
  static_assert(kOperandBytes % 1024 == 0 && kBytes <= 227 * 1024);
};

// Half a stage: where a tile's K' or V lies, and the mbarriers that say that it is there and that
// nobody needs it any more.
struct StageHalf {
  sk::SharedAddress operand, full, empty;
};
struct TileStage {
  StageHalf keys, values;
  std::uint32_t round;  // how often the stage was filled before, as parity
};
template <std::uint32_t kDim>
SK_DEVICE TileStage StageOfTile(sk::SharedAddress shared, std::uint32_t tile) {
  using Memory = WgmmaMemory<kDim>;
  const std::uint32_t stage = sk::Index(tile % Memory::kStages);
  const std::uint32_t own = sk::Index(tile % Memory::kStages);
  const sk::SharedAddress keys = shared + Memory::kStage + stage * (2 * Memory::kOperandBytes);
  const sk::SharedAddress barriers = shared + Memory::kBarriers + own * Memory::kBarriersOfStage;
  constexpr std::uint32_t kNext = sk::kMbarrierBytes;
  return {{keys, barriers, barriers + kNext},
          {keys + Memory::kOperandBytes, barriers + 2 * kNext, barriers + 3 * kNext},
          tile / Memory::kStages % 2};
}

template <std::uint32_t kDim>
SK_DEVICE void InitStages(sk::SharedAddress shared) {
  using Memory = WgmmaMemory<kDim>;
  constexpr std::uint32_t kConsumers = Memory::kGroups * sk::kWarpgroupThreads / sk::kWarpLanes;
  for (std::uint32_t i = 0; i < Memory::kStages; ++i) {
    const TileStage stage = StageOfTile<kDim>(shared, i);
    sk::MbarrierInit(stage.keys.full, 1);
    sk::MbarrierInit(stage.keys.empty, kConsumers);
    sk::MbarrierInit(stage.values.full, 1);
    sk::MbarrierInit(stage.values.empty, kConsumers);
  }
  sk::FenceMbarrierInit();
}

// ---- The producer -------------------------------------------------------------------------------

template <std::uint32_t kDim>
SK_DEVICE void ProduceHalf(const StageHalf& half, std::uint32_t round, const std::byte* from) {
  sk::MbarrierWait(half.empty, round ^ 1);  // the first round finds all free
  sk::MbarrierArriveExpect(half.full, WgmmaMemory<kDim>::kOperandBytes);
  sk::BulkLoad(half.operand, from, WgmmaMemory<kDim>::kOperandBytes, half.full);
}

// One thread: tiles `first` to first + count - 1 of the scratch, in order.
template <std::uint32_t kDim>
SK_DEVICE void ProduceTiles(const RotateParams& keys, std::uint32_t first, std::uint32_t count,
                            std::uint32_t head, sk::SharedAddress shared) {
  constexpr std::uint32_t kOperand = WgmmaMemory<kDim>::kOperandBytes;
  const auto* scratch = reinterpret_cast<const std::byte*>(keys.scratch);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t operand = (std::uint64_t{first + i} * keys.kv_heads + head) * 2;
    const TileStage stage = StageOfTile<kDim>(shared, i);
    ProduceHalf<kDim>(stage.keys, stage.round, scratch + sk::Index(operand) * kOperand);
    ProduceHalf<kDim>(stage.values, stage.round, scratch + sk::Index(operand + 1) * kOperand);
  }
}

// ---- Consumers ----------------------------------------------------------------------------------

SK_DEVICE std::uint32_t GroupIndex() { return sk::WarpIndex() / 4; }

// The longest list of rows 64 group to 64 group + 63 of the tile. By whole warps.
SK_DEVICE std::uint32_t MostTiles(const AttendParams& params, const QueryTile& tile,
                                  std::uint32_t group) {
  std::uint32_t most = 0;
  SK_UNROLL
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint32_t of_tile = 64 * group + 32 * i + sk::LaneIndex();
    if (of_tile < tile.row_count) {
      const std::uint32_t count = params.rows[sk::Index(tile.first_row + of_tile)].tile_count;
      most = count > most ? count : most;
    }
  }
  return sk::ReduceMax(most);
}

// What the lane's rows see; a row that there is not sees nothing.
SK_DEVICE void LoadRowViews(const AttendParams& params, const QueryTile& tile,
                            RowView (&views)[2]) {
  SK_UNROLL
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint32_t of_tile = 16 * sk::WarpIndex() + 8 * i + sk::LaneIndex() / 4;
    if (of_tile < tile.row_count) {
      const AttendRow& row = params.rows[sk::Index(tile.first_row + of_tile)];
      views[i] = {row.tile_count, row.last_tokens};
    }
  }
}

// Rotates the warpgroup's queries into its part of shared memory, for all of it. Rows that there
// are not stay as they are: what they give is not stored.
template <class Element, std::uint32_t kDim>
SK_DEVICE void TurnGroupQueries(const AttendParams& params, const QueryTile& tile,
                                std::uint32_t q_head, std::byte* query) {
  const std::uint32_t first = 64 * GroupIndex();
  const std::uint32_t left = tile.row_count > first ? tile.row_count - first : 0;
  const QueryRows rows = {tile.first_row + first, left < 64 ? left : 64, q_head,
                          sk::ThreadIndex() % sk::kWarpgroupThreads, sk::kWarpgroupThreads};
  TurnQueryRows<Element, 8>(params, rows, [&](std::uint32_t row, std::uint32_t word) {
    const std::uint32_t to = BoxOffset(row, word / 4) + word % 4 * 4;
    return reinterpret_cast<std::uint32_t*>(query + to);
  });
  if constexpr (WgmmaMemory<kDim>::kIsWide) {
    sk::FenceProxyAsync();  // wgmma reads them there
  }
  sk::SyncNamed(1 + GroupIndex(), sk::kWarpgroupThreads);
}

SK_DEVICE sk::MatrixDescriptor DescribeBoxes(sk::SharedAddress start) {
  return sk::Describe({.start = start,
                       .leading_bytes = kBoxBytes,  // V: from 64 dims to the next
                       .stride_bytes = 1024,        // from eight rows to the next
                       .swizzle = sk::Swizzle::k128});
}

// 16 dims further on in a tile's K', or in queries.
SK_DEVICE std::uint32_t StepOffset(std::uint32_t step) {
  return step / 4 * kBoxBytes + step % 4 * 32;
}

// The warpgroup's queries as the products' first operand: in registers, which saves half of what
// these products read of shared memory, or where registers are short in shared memory.
template <std::uint32_t kDim, bool kIsWide>
class QueryOperand {
 public:
  SK_DEVICE explicit QueryOperand(sk::SharedAddress query) {
    const std::uint32_t lane = sk::LaneIndex(), warp = sk::WarpIndex() % 4;
    const std::uint32_t row = sk::Index(16 * warp + lane % 16);
    SK_UNROLL
    for (std::uint32_t step = 0; step < kDim / 16; ++step) {
      const std::uint32_t piece = sk::Index(step * 2 + lane / 16);
      sk::LoadMatrix<4>(fragments_[step], query + BoxOffset(row, piece));
    }
  }
  template <class Element>
  SK_DEVICE void Multiply(std::uint32_t step, sk::MatrixDescriptor keys,
                          float (&scores)[32]) const {
    sk::Wgmma<64, Element::kInput, sk::Major::kK>(scores, fragments_[step], keys, step > 0);
  }

 private:
  std::uint32_t fragments_[kDim / 16][4];
};
template <std::uint32_t kDim>
class QueryOperand<kDim, true> {
 public:
  SK_DEVICE explicit QueryOperand(sk::SharedAddress query) : boxes_(DescribeBoxes(query)) {}
  template <class Element>
  SK_DEVICE void Multiply(std::uint32_t step, sk::MatrixDescriptor keys,
                          float (&scores)[32]) const {
    const sk::MatrixDescriptor q = sk::Advance(boxes_, StepOffset(sk::Index(step)));
    sk::Wgmma<64, Element::kInput, sk::Major::kK, sk::Major::kK>(scores, q, keys, step > 0);
  }

 private:
  sk::MatrixDescriptor boxes_;
};

// Starts the products of a tile's scores; `scores` is wgmma's until WgmmaWait.
template <class Element, std::uint32_t kDim, class Query>
SK_DEVICE void StartScores(const Query& query, sk::SharedAddress keys, float (&scores)[32]) {
  const sk::MatrixDescriptor boxes = DescribeBoxes(keys);
  SK_UNROLL
  for (std::uint32_t step = 0; step < kDim / 16; ++step) {
    const sk::MatrixDescriptor k = sk::Advance(boxes, StepOffset(sk::Index(step)));
    query.template Multiply<Element>(step, k, scores);
  }
  sk::WgmmaCommit();
}

// Starts adding a tile's weighted values, to nothing if the tile is a split's first; `weights` and
// `out` are wgmma's until WgmmaWait.
template <class Element, std::uint32_t kDim>
SK_DEVICE void StartValues(const std::uint32_t (&weights)[4][4], sk::SharedAddress values,
                           std::uint32_t tile, float (&out)[kDim / 2]) {
  const sk::MatrixDescriptor b = DescribeBoxes(values);
  SK_UNROLL
  for (std::uint32_t step = 0; step < 4; ++step) {
    const std::uint32_t tokens = sk::Index(step) * 16;
    const sk::MatrixDescriptor v = sk::Advance(b, tokens * (kBoxDims * 2));
    sk::Wgmma<kDim, Element::kInput, sk::Major::kMn>(out, weights[step], v,
                                                     step > 0 || tile % kSplitTiles > 0);
  }
  sk::WgmmaCommit();
}

// The scores of both of a lane's rows, [half][n][2] as a row has them, from a product's.
SK_DEVICE void TakeScores(const float (&products)[32], float (&scores)[2][16]) {
  SK_UNROLL
  for (std::uint32_t i = 0; i < 32; ++i) {
    scores[i / 2 % 2][i / 4 * 2 + i % 2] = products[i];
  }
}
// Their weights as rows of a product, 16 tokens a step.
template <class Element>
SK_DEVICE void TakeWeights(const float (&scores)[2][16], std::uint32_t (&weights)[4][4]) {
  SK_UNROLL
  for (std::uint32_t half = 0; half < 2; ++half) {
    std::uint32_t rounded[8];
    RoundWeights<Element>(scores[half], rounded);
    SK_UNROLL
    for (std::uint32_t n = 0; n < 8; ++n) weights[n / 2][n % 2 * 2 + half] = rounded[n];
  }
}

SK_DEVICE void Free(const StageHalf& half) {
  if (sk::LaneIndex() == 0) sk::MbarrierArrive(half.empty);
}

// Tiles `first` to first + count - 1 (at least one) for the warpgroup's rows.
template <class Element, std::uint32_t kDim, class Query, class Totals>
SK_DEVICE void AttendTiles(const AttendParams& params, const Query& query,
                           const RowView (&views)[2], std::uint32_t first, std::uint32_t count,
                           sk::SharedAddress shared, RowSoftmax (&totals)[2], Totals& total_out) {
  const float factor = params.scale * kLog2E;
  RowSoftmax rows[2];
  float out[kDim / 2] = {}, products[32], scores[2][16];
  std::uint32_t weights[4][4];
  const auto wait_for_keys = [&](std::uint32_t i) {
    if (i >= count) return;
    const TileStage stage = StageOfTile<kDim>(shared, i);
    sk::MbarrierWait(stage.keys.full, stage.round);
  };
  // Phase 1: the first tile's weights.
  TileStage stage = StageOfTile<kDim>(shared, 0);
  std::uint32_t tokens = params.keys.tiles[sk::Index(first)].tokens;
  wait_for_keys(0);
  sk::WgmmaFence();
  StartScores<Element, kDim>(query, stage.keys.operand, products);
  sk::WgmmaWait<0>();
  Free(stage.keys);
  TakeScores(products, scores);
  SK_UNROLL
  for (std::uint32_t half = 0; half < 2; ++half) {
    WeighScores(rows[half], scores[half], factor, views[half].Visible(0, tokens));
  }
  TakeWeights<Element>(scores, weights);
  wait_for_keys(1);
  for (std::uint32_t i = 1; i < count; ++i) {
    // Phase 2: this tile's scores, and behind them the values of the tile before.
    const TileStage before = stage;
    stage = StageOfTile<kDim>(shared, i);
    tokens = params.keys.tiles[sk::Index(first + i)].tokens;
    sk::MbarrierWait(before.values.full, before.round);
    sk::WgmmaFence();
    StartScores<Element, kDim>(query, stage.keys.operand, products);
    StartValues<Element, kDim>(weights, before.values.operand, i - 1, out);
    // Phase 3: weights, in the shade of those values.
    sk::WgmmaWait<1>();
    Free(stage.keys);
    const bool is_new_split = i % kSplitTiles == 0;
    RowSoftmax ended[2] = {rows[0], rows[1]};
    if (is_new_split) rows[0] = rows[1] = RowSoftmax();
    float keep[2];
    TakeScores(products, scores);
    SK_UNROLL
    for (std::uint32_t half = 0; half < 2; ++half) {
      keep[half] = WeighScores(rows[half], scores[half], factor, views[half].Visible(i, tokens));
    }
    // Phase 4: what there was, once the values are in. The wait for keys stands before that for
    // the values because it is a branch, which nothing of phase 3 is moved across: ptxas moved
    // most of it behind the values.
    wait_for_keys(i + 1);
    sk::WgmmaWait<0>();
    Free(before.values);
    if (is_new_split) {
      FoldRows<kDim>(ended, out, totals, total_out);
    } else {
      SK_UNROLL
      for (std::uint32_t at = 0; at < kDim / 2; ++at) out[at] *= keep[at / 2 % 2];
    }
    TakeWeights<Element>(scores, weights);
  }
  // Phase 5: the last tile's values.
  sk::MbarrierWait(stage.values.full, stage.round);
  sk::WgmmaFence();
  StartValues<Element, kDim>(weights, stage.values.operand, count - 1, out);
  sk::WgmmaWait<0>();
  Free(stage.values);
  FoldRows<kDim>(rows, out, totals, total_out);
}

// Gives back the tiles `begin` to end - 1, which only the other warpgroup sees: who fills a stage
// waits for both. By one thread a warp, since no product holds its lanes together here: one that
// came late to a wait could miss the phase.
template <std::uint32_t kDim>
SK_DEVICE void SkipTiles(sk::SharedAddress shared, std::uint32_t begin, std::uint32_t end) {
  if (sk::LaneIndex() != 0) return;
  for (std::uint32_t i = begin; i < end; ++i) {
    const TileStage stage = StageOfTile<kDim>(shared, i);
    sk::MbarrierWait(stage.keys.full, stage.round);
    sk::MbarrierArrive(stage.keys.empty);
    sk::MbarrierWait(stage.values.full, stage.round);
    sk::MbarrierArrive(stage.values.empty);
  }
}

template <class Element, std::uint32_t kDim>
SK_DEVICE void ConsumeTiles(const AttendParams& params, const QueryTile& tile, std::uint32_t first,
                            std::uint32_t group_tiles, std::uint32_t block_tiles,
                            std::byte* memory) {
  using Memory = WgmmaMemory<kDim>;
  const std::uint32_t q_head = sk::BlockIndexY();
  const sk::SharedAddress shared = sk::ToShared(memory);
  // Each lane knows it; that all lanes agree, which the operands of products must, ptxas does not.
  const std::uint32_t group = sk::Shuffle(GroupIndex(), 0);
  const std::uint32_t own_query = sk::Index(group) * Memory::kOperandBytes;
  TurnGroupQueries<Element, kDim>(params, tile, q_head, memory + own_query);
  const QueryOperand<kDim, Memory::kIsWide> query(shared + own_query);
  RowView views[2];
  LoadRowViews(params, tile, views);

  RowTotals<kDim, Memory::kIsWide> total_out(memory + Memory::kTotals);
  RowSoftmax totals[2];
  if (group_tiles > 0) {
    AttendTiles<Element, kDim>(params, query, views, first, group_tiles, shared, totals, total_out);
  }
  StoreRows<kDim>(params, tile, q_head, totals, total_out);
  SkipTiles<kDim>(shared, group_tiles, block_tiles);
}

template <class Element, std::uint32_t kDim>
SK_KERNEL_REGISTERS(WgmmaMemory<kDim>::kRegisters)
void PrefillRowsWgmma(PrefillParams params) {
  using Memory = WgmmaMemory<kDim>;
  const RotateParams& keys = params.rows.keys;
  const std::uint32_t count = *params.query_tile_count;
  if (sk::BlockIndexX() >= count) return;
  // The last rows of a list see the most: they go first.
  const QueryTile tile = params.query_tiles[sk::Index(count - 1 - sk::BlockIndexX())];
  const std::uint32_t first = params.rows.rows[sk::Index(tile.first_row)].first_tile;
  // From reductions, not chosen by the thread's index: ptxas must see that a warp agrees.
  const std::uint32_t group_tiles = MostTiles(params.rows, tile, GroupIndex());
  std::uint32_t block_tiles = 0;
  SK_UNROLL
  for (std::uint32_t group = 0; group < Memory::kGroups; ++group) {
    const std::uint32_t most = MostTiles(params.rows, tile, group);
    block_tiles = most > block_tiles ? most : block_tiles;
  }

  std::byte* memory = sk::SharedMemory();
  if (sk::ThreadIndex() == 0) InitStages<kDim>(sk::ToShared(memory));
  sk::SyncBlock();
  if (GroupIndex() == Memory::kGroups) {
    sk::ReleaseRegisters<Memory::kProducerRegisters>();
    if (sk::ThreadIndex() == Memory::kGroups * sk::kWarpgroupThreads) {
      const std::uint32_t head = sk::BlockIndexY() / (params.rows.q_heads / keys.kv_heads);
      ProduceTiles<kDim>(keys, first, block_tiles, head, sk::ToShared(memory));
    }
  } else {
    sk::ClaimRegisters<Memory::kConsumerRegisters>();
    ConsumeTiles<Element, kDim>(params.rows, tile, first, group_tiles, block_tiles, memory);
  }
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_PREFILL_WGMMA_KERNEL_H_
