#include "kernels/linear/packed.h"
#include "kernels/linear/packed_output.h"
#include "kernels/linear/packed_tiles.h"
#include "kernels/linear/partials.h"
#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kFewRowsMax = 64;  // of a grid that keeps partials: LinearPartialsBytes
constexpr std::uint32_t kConsumerThreads = 256;    // two warpgroups, 64 columns of a tile each
constexpr std::uint32_t kFewProducerThreads = 32;  // one warp keeps up with HBM
constexpr std::uint32_t kManyProducerThreads = 128;
// Of blocks of many rows: each thread starts with 168 registers, (2 * 232 + 40) / 3.
constexpr int kStartRegisters = 168, kConsumerRegisters = 232, kProducerRegisters = 40;

// A tile: 128 columns of y by kTileRows rows of x. Few rows: two blocks an SM, a block does one
// split at a time. Many: one block an SM, which does all splits of a tile and adds them up in
// registers.
template <std::uint32_t kTileRows>
struct Tile {
  static constexpr bool kFolds = kTileRows > kFewRowsMax;
  static constexpr std::uint32_t kProducers = kFolds ? kManyProducerThreads : kFewProducerThreads;
  static constexpr std::uint32_t kThreads = kConsumerThreads + kProducers;
  static constexpr std::uint32_t kStageBytes = kPackedTileBytes + kTileRows * kPackedRowBytes;
  static constexpr std::uint32_t kRoom = (kFolds ? 227 : 112) * 1024;
  static constexpr std::uint32_t kStagesThatFit = kRoom / (kStageBytes + 2 * sk::kMbarrierBytes);
  static constexpr std::uint32_t kStages = kStagesThatFit < 6 || kFolds ? kStagesThatFit : 6;
  static constexpr std::uint32_t kSharedBytes = kStages * (kStageBytes + 2 * sk::kMbarrierBytes);
  // So many steps behind its copies a producer says that they have come. It must be two stages
  // short of a round: consumers free a stage only when they have issued the step after it, so with
  // one both sides would wait for ever.
  static constexpr std::uint32_t kLag = kStages - (kFolds ? 3 : 2);
  static_assert(kStages >= 4 && kLag >= 1 && kLag <= kStages - 2);
};

// The stage of a step, and the parity of its turn there.
template <std::uint32_t kStages>
struct Turn {
  std::uint32_t stage = 0, parity = 0;
  SK_DEVICE void Next() {
    if (++stage < kStages) return;
    stage = 0;
    parity ^= 1;
  }
};

struct Stage {
  sk::SharedAddress w, x, full, empty;
};
template <std::uint32_t kTileRows>
SK_DEVICE Stage StageAt(sk::SharedAddress base, std::uint32_t stage) {
  using T = Tile<kTileRows>;
  const sk::SharedAddress tiles = base + stage * T::kStageBytes;
  const sk::SharedAddress barriers =
      base + T::kStages * T::kStageBytes + stage * (2 * sk::kMbarrierBytes);
  return {tiles, tiles + kPackedTileBytes, barriers, barriers + sk::kMbarrierBytes};
}

// What there is to do, cut into items; a block takes its own, and of the rest each so many on as
// there are blocks.
struct Work {
  std::uint32_t rows;
  std::uint32_t row_tiles, n_tiles, k_tiles;
  std::uint32_t split_count, split_tiles;
  std::uint32_t items;
};
template <std::uint32_t kTileRows>
SK_DEVICE Work WorkOf(const LinearParams& params) {
  const LinearSplits splits = SplitsOf(params.n, params.k);
  Work work;
  work.rows = *params.row_count < params.rows_max ? *params.row_count : params.rows_max;
  work.row_tiles = (work.rows + kTileRows - 1) / kTileRows;
  work.n_tiles = PackedTilesAcross(params.n);
  work.k_tiles = PackedTilesDeep(params.k);
  work.split_count = splits.count;
  work.split_tiles = splits.depth / kLinearStepDepth;
  const std::uint32_t splits_apart = Tile<kTileRows>::kFolds ? 1 : splits.count;
  work.items = work.row_tiles * work.n_tiles * splits_apart;
  return work;
}

struct Item {
  std::uint32_t row, n_tile, split;  // its first row; the split, where an item is one
  std::uint32_t k_begin, k_end;      // tiles
};
template <std::uint32_t kTileRows>
SK_DEVICE Item ItemAt(const Work& work, std::uint32_t index) {
  if constexpr (Tile<kTileRows>::kFolds) {  // neighbours share W's tiles, in L2
    return {index % work.row_tiles * kTileRows, index / work.row_tiles, 0, 0, work.k_tiles};
  } else {  // there is one tile of rows; neighbours share x
    const std::uint32_t split = index / work.n_tiles, begin = split * work.split_tiles;
    const std::uint32_t end = begin + work.split_tiles;
    return {0, index % work.n_tiles, split, begin, end < work.k_tiles ? end : work.k_tiles};
  }
}

// ---- Producers ----------------------------------------------------------------------------------

// 64 of k of an item's rows, as wgmma wants them; zeros beyond their ends.
template <std::uint32_t kTileRows>
SK_DEVICE void LoadRows(const LinearParams& params, std::uint32_t rows, const Item& item,
                        std::uint32_t k_tile, sk::SharedAddress x) {
  using T = Tile<kTileRows>;
  constexpr std::uint32_t kRowsAtOnce = T::kProducers / 8;
  const std::uint32_t thread = sk::ThreadIndex() - kConsumerThreads, chunk = thread % 8;
  const std::uint32_t k = k_tile * kLinearStepDepth + chunk * 8;
  const std::uint32_t first = item.row + thread / 8;
  std::uint64_t piece = (std::uint64_t{first} * params.k + k) / 8;
  const std::uint32_t inside = k < params.k && first < rows ? rows - first : 0;  // rows of them
  SK_UNROLL
  for (std::uint32_t i = 0; i < kTileRows;
       i += kRowsAtOnce, piece += kRowsAtOnce * (params.k / 8)) {
    const bool is_inside = i < inside;
    const std::uint64_t piece_from = sk::Index(piece);
    const std::uint16_t* source = is_inside ? params.x + piece_from * 8 : params.x;
    const std::uint32_t row_to = sk::Index(i + thread / 8);
    const std::uint32_t chunk_to = sk::Index(chunk);
    sk::CopyAsyncZeroFill<16>(x + PackedByte(row_to, chunk_to), source, is_inside ? 16 : 0);
  }
}

// This warp's part of a stage has come: for wgmma, too.
SK_DEVICE void Publish(sk::SharedAddress full) {
  sk::FenceProxyAsync();
  sk::SyncWarp();
  if (sk::LaneIndex() == 0) sk::MbarrierArrive(full);
}

template <std::uint32_t kTileRows>
SK_DEVICE void Produce(const LinearParams& params, const Work& work, sk::SharedAddress base) {
  using T = Tile<kTileRows>;
  Turn<T::kStages> turn, published;
  std::uint32_t unpublished = 0;
  for (std::uint32_t i = sk::BlockIndexX(); i < work.items; i += sk::BlockCountX()) {
    const Item item = ItemAt<kTileRows>(work, i);
    for (std::uint32_t k_tile = item.k_begin; k_tile < item.k_end; ++k_tile) {
      const Stage stage = StageAt<kTileRows>(base, sk::Index(turn.stage));
      sk::MbarrierWait(stage.empty, turn.parity ^ 1);  // the first round finds all free
      if (sk::ThreadIndex() == kConsumerThreads) {
        const std::uint64_t tile = sk::Index(std::uint64_t{item.n_tile} * work.k_tiles + k_tile);
        sk::MbarrierArriveExpect(stage.full, kPackedTileBytes);
        sk::BulkLoad(stage.w, params.w + tile * (kPackedTileBytes / 2), kPackedTileBytes,
                     stage.full);
      }
      LoadRows<kTileRows>(params, work.rows, item, k_tile, stage.x);
      sk::CommitCopies();
      turn.Next();
      if (++unpublished <= T::kLag) continue;
      sk::WaitCopies<T::kLag>();
      Publish(StageAt<kTileRows>(base, sk::Index(published.stage)).full);
      published.Next();
      --unpublished;
    }
  }
  sk::WaitCopies<0>();
  for (; unpublished > 0; --unpublished) {
    Publish(StageAt<kTileRows>(base, sk::Index(published.stage)).full);
    published.Next();
  }
}

// ---- Consumers ----------------------------------------------------------------------------------

// 64 of k: a warpgroup's 64 columns by all rows.
template <std::uint32_t kTileRows>
SK_DEVICE void MultiplyStage(const Stage& stage, bool is_first, float (&sums)[kTileRows / 2]) {
  const std::uint32_t half = sk::Index(sk::ThreadIndex() / sk::kWarpgroupThreads);
  const sk::MatrixDescriptor w = sk::Describe({.start = stage.w + half * (kPackedTileBytes / 2),
                                               .stride_bytes = 8 * kPackedRowBytes,
                                               .swizzle = sk::Swizzle::k128});
  const sk::MatrixDescriptor x = sk::Describe(
      {.start = stage.x, .stride_bytes = 8 * kPackedRowBytes, .swizzle = sk::Swizzle::k128});
  sk::WgmmaFence();
  SK_UNROLL
  for (std::uint32_t k = 0; k < kLinearStepDepth / 16; ++k) {
    const std::uint32_t w_step = sk::Index(k);
    const std::uint32_t x_step = sk::Index(k);
    sk::Wgmma<kTileRows, sk::InputType::kBf16, sk::Major::kK, sk::Major::kK>(
        sums, sk::Advance(w, w_step * 32), sk::Advance(x, x_step * 32), k > 0 || !is_first);
  }
  sk::WgmmaCommit();
}

template <std::uint32_t kTileRows>
SK_DEVICE void Consume(const LinearParams& params, const Work& work, sk::SharedAddress base) {
  using T = Tile<kTileRows>;
  float sums[kTileRows / 2] = {}, total[T::kFolds ? kTileRows / 2 : 1];
  Turn<T::kStages> turn;
  for (std::uint32_t i = sk::BlockIndexX(); i < work.items; i += sk::BlockCountX()) {
    const Item item = ItemAt<kTileRows>(work, i);
    // A total starts as -0, which changes no bit of what is added to it first.
    SK_UNROLL
    for (float& each : total) each = -0.0f;
    for (std::uint32_t begin = item.k_begin; begin < item.k_end; begin += work.split_tiles) {
      const std::uint32_t split_end = begin + work.split_tiles;
      const std::uint32_t end = split_end < item.k_end ? split_end : item.k_end;
      sk::SharedAddress empty = 0;  // of the step before
      for (std::uint32_t k_tile = begin; k_tile < end; ++k_tile) {
        const Stage stage = StageAt<kTileRows>(base, sk::Index(turn.stage));
        sk::MbarrierWait(stage.full, turn.parity);
        MultiplyStage<kTileRows>(stage, k_tile == begin, sums);
        sk::WgmmaWait<1>();
        if (k_tile > begin && sk::LaneIndex() == 0) sk::MbarrierArrive(empty);
        empty = stage.empty;
        turn.Next();
      }
      sk::WgmmaWait<0>();
      if (sk::LaneIndex() == 0) sk::MbarrierArrive(empty);
      if constexpr (T::kFolds) {
        SK_UNROLL
        for (std::uint32_t j = 0; j < kTileRows / 2; ++j) total[j] += sums[j];
      }
    }
    const std::uint32_t group = sk::ThreadIndex() / sk::kWarpgroupThreads;
    const PackedPlace place{item.row, item.n_tile * kLinearTileColumns + group * 64, work.rows,
                            item.split, !T::kFolds && work.split_count > 1};
    if constexpr (T::kFolds) {
      StorePlace<kTileRows>(params, place, total);
    } else {
      StorePlace<kTileRows>(params, place, sums);
    }
  }
}

// ---- The kernels --------------------------------------------------------------------------------

template <std::uint32_t kTileRows>
SK_DEVICE void MultiplyItems(const LinearParams& params) {
  using T = Tile<kTileRows>;
  const Work work = WorkOf<kTileRows>(params);
  const sk::SharedAddress base = sk::ToShared(sk::SharedMemory());
  // Phase 1: mbarriers. A stage is full when W's tile and each producing warp's rows are there.
  if (sk::ThreadIndex() == 0) {
    for (std::uint32_t i = 0; i < T::kStages; ++i) {
      const Stage stage = StageAt<kTileRows>(base, i);
      sk::MbarrierInit(stage.full, 1 + T::kProducers / sk::kWarpLanes);
      sk::MbarrierInit(stage.empty, kConsumerThreads / sk::kWarpLanes);
    }
    sk::FenceMbarrierInit();
  }
  sk::SyncBlock();
  // Phase 2: the last warps fill stages, two warpgroups empty them.
  if (sk::ThreadIndex() >= kConsumerThreads) {
    if constexpr (T::kFolds) sk::ReleaseRegisters<kProducerRegisters>();
    Produce<kTileRows>(params, work, base);
  } else {
    if constexpr (T::kFolds) sk::ClaimRegisters<kConsumerRegisters>();
    Consume<kTileRows>(params, work, base);
  }
}

template <std::uint32_t kTileRows>
SK_KERNEL_BLOCKS(kConsumerThreads + kFewProducerThreads, 2)
void MultiplyFewPacked(LinearParams params) {
  MultiplyItems<kTileRows>(params);
}

template <std::uint32_t kTileRows>
SK_KERNEL_REGISTERS(kStartRegisters)
void MultiplyManyPacked(LinearParams params) {
  MultiplyItems<kTileRows>(params);
}

constexpr std::uint32_t kFoldThreads = 128;

// Partial sums of the splits, added in index order. A thread a pair of columns.
SK_KERNEL void FoldPackedPartials(LinearParams params) {
  const std::uint32_t row = sk::BlockIndexY();
  const std::uint32_t column = (sk::BlockIndexX() * kFoldThreads + sk::ThreadIndex()) * 2;
  if (row < *params.row_count && column < params.n) FoldPair(params, row, column);
}

// ---- Launchers ----------------------------------------------------------------------------------

LinearParams Unpacked(const PackedLinearParams& params) {
  LinearParams linear;
  linear.x = params.x;
  linear.w = params.packed;
  linear.y = params.y;
  linear.n = params.n;
  linear.k = params.k;
  linear.output = params.output;
  linear.row_count = params.row_count;
  linear.rows_max = params.rows_max;
  linear.partials = params.partials;
  return linear;
}

std::uint32_t TilesOf(std::uint32_t rows, std::uint32_t tile_rows) {
  return (rows + tile_rows - 1) / tile_rows;
}

// Clocks of a grid of many rows: rounds of blocks, each as long as shared memory moves the bytes of
// its steps (128 a clock): stages written once, and read as operands by two warpgroups.
std::uint64_t ClocksOf(const PackedLinearParams& params, std::uint32_t tile_rows) {
  const std::uint32_t items = TilesOf(params.rows_max, tile_rows) * PackedTilesAcross(params.n);
  const std::uint32_t written = kPackedTileBytes + tile_rows * kPackedRowBytes;
  const std::uint32_t read = kPackedTileBytes + 2 * tile_rows * kPackedRowBytes;
  return std::uint64_t{TilesOf(items, params.sm_count)} * (written + read);
}

template <std::uint32_t kTileRows>
rt::Status LaunchItems(rt::Stream& stream, const PackedLinearParams& params) {
  using T = Tile<kTileRows>;
  const LinearParams linear = Unpacked(params);
  const std::uint32_t tiles = PackedTilesAcross(params.n);
  const std::uint32_t splits = SplitsOf(params.n, params.k).count;
  const std::uint32_t items = tiles * (T::kFolds ? TilesOf(params.rows_max, kTileRows) : splits);
  const std::uint32_t blocks = params.sm_count * (T::kFolds ? 1 : 2);
  rt::LaunchConfig config{.blocks_x = items < blocks ? items : blocks,
                          .threads = T::kThreads,
                          .shared_bytes = T::kSharedBytes};
  if constexpr (T::kFolds) {
    config.registers_per_thread = kStartRegisters;
    return rt::Launch(stream, config, MultiplyManyPacked<kTileRows>, linear);
  } else {
    rt::Status status = rt::Launch(stream, config, MultiplyFewPacked<kTileRows>, linear);
    if (!status.ok() || splits == 1) return status;
    return rt::Launch(stream,
                      {.blocks_x = TilesOf(params.n, 2 * kFoldThreads),
                       .blocks_y = params.rows_max,
                       .threads = kFoldThreads},
                      FoldPackedPartials, linear);
  }
}

}  // namespace

std::string Validate(const PackedLinearParams& params) {
  if (params.sm_count == 0 || params.sm_count > 1024) {
    return "linear: sm_count is " + std::to_string(params.sm_count) + ", not within 1 to 1024";
  }
  return Validate(Unpacked(params));
}

std::uint32_t PackedTileRows(const PackedLinearParams& params) {
  for (const std::uint32_t few : {8, 16, 32, 64, 128}) {
    if (params.rows_max <= few) return few;
  }
  return ClocksOf(params, 192) < ClocksOf(params, 128) ? 192 : 128;
}

rt::Status MultiplyPacked(rt::Stream& stream, const PackedLinearParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  switch (PackedTileRows(params)) {
    case 8:
      return LaunchItems<8>(stream, params);
    case 16:
      return LaunchItems<16>(stream, params);
    case 32:
      return LaunchItems<32>(stream, params);
    case 64:
      return LaunchItems<64>(stream, params);
    case 128:
      return LaunchItems<128>(stream, params);
    default:
      return LaunchItems<192>(stream, params);
  }
}

}  // namespace cairn::kernels
