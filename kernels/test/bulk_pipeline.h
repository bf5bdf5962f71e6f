#ifndef CAIRN_KERNELS_TEST_BULK_PIPELINE_H_
#define CAIRN_KERNELS_TEST_BULK_PIPELINE_H_

#include "kernels/sk/sk.h"

// A 64x64 tile of A * B^T in bf16 by bulk copies, mbarriers and wgmma, with a producing and a
// consuming warpgroup: the Hopper pipeline. Tiles of 64x64 lie in memory as wgmma wants them in
// shared memory (k128 swizzle), so that each is one copy. A specimen for the bug suite, and
// readable as an example.

namespace cairn::test {

struct BulkPipelineParams {
  const std::uint16_t* a;  // [steps] swizzled tiles of 64 rows x 64 columns of k
  const std::uint16_t* b;  // [steps] likewise
  float* c;                // [64][64]
  std::uint32_t steps;
};

enum class BulkBug {
  kNone,
  kFullParity,        // the consumer waits for the phase before
  kEmptyParity,       // the producer does
  kParityNeverFlips,  // the consumer always waits for parity 0
  kExpectLess,        // expect_tx of one tile, two are copied
  kExpectMore,
  kNoExpect,       // plain arrive
  kArrivalsMore,   // the mbarrier counts one arrival that nobody makes
  kArrivalsLess,   // ... one too few
  kNoArrive,       // a consumer warp never frees its stages
  kNoInitFence,    // the async proxy need not see the mbarriers
  kNoInitBarrier,  // other threads need not, either
  kNoWgmmaFence,
  kNoWgmmaCommit,
  kNoWgmmaWait,     // results are used while products are under way
  kShallowRelease,  // a stage is freed while the product that reads it may be under way
  kEarlyRelease,    // ... before the product is even issued
  kWarpLeftOut,     // three warps of the warpgroup multiply
};

inline constexpr std::uint32_t kBulkStages = 3;
inline constexpr std::uint32_t kBulkTileBytes = 64 * 128;
inline constexpr std::uint32_t kBulkStageBytes = 2 * kBulkTileBytes;
inline constexpr std::uint32_t kBulkSharedBytes = kBulkStages * (kBulkStageBytes + 16);
inline constexpr std::uint32_t kBulkThreads = 256;    // warpgroup 0 consumes, 1 produces
inline constexpr std::uint32_t kBulkRegisters = 136;  // (232 + 40) / 2

struct BulkStage {
  sk::SharedAddress tiles, full, empty;
};
SK_DEVICE BulkStage StageOf(sk::SharedAddress base, std::uint32_t step) {
  const std::uint32_t stage = sk::Index(step % kBulkStages);
  const std::uint32_t pair = sk::Index(step % kBulkStages);
  const sk::SharedAddress barriers = base + kBulkStages * kBulkStageBytes + pair * 16;
  return {base + stage * kBulkStageBytes, barriers, barriers + 8};
}

template <BulkBug kBug>
SK_DEVICE void Produce(const BulkPipelineParams& params, sk::SharedAddress base) {
  for (std::uint32_t step = 0; step < params.steps; ++step) {
    const BulkStage stage = StageOf(base, step);
    const std::uint32_t parity = step / kBulkStages % 2 ^ 1;  // the first round finds all free
    sk::MbarrierWait(stage.empty, kBug == BulkBug::kEmptyParity ? parity ^ 1 : parity);
    if constexpr (kBug == BulkBug::kNoExpect) {
      sk::MbarrierArrive(stage.full);
    } else {
      constexpr std::uint32_t kTiles = kBug == BulkBug::kExpectLess   ? 1
                                       : kBug == BulkBug::kExpectMore ? 3
                                                                      : 2;
      sk::MbarrierArriveExpect(stage.full, kTiles * kBulkTileBytes);
    }
    const std::uint16_t* a = params.a + sk::Index(step) * 4096;
    sk::BulkLoad(stage.tiles, a, kBulkTileBytes, stage.full);
    const std::uint16_t* b = params.b + sk::Index(step) * 4096;
    sk::BulkLoad(stage.tiles + kBulkTileBytes, b, kBulkTileBytes, stage.full);
  }
}

template <BulkBug kBug>
SK_DEVICE void Consume(const BulkPipelineParams& params, sk::SharedAddress base) {
  const std::uint32_t warp = sk::WarpIndex(), lane = sk::LaneIndex();
  float d[32] = {};
  for (std::uint32_t step = 0; step < params.steps; ++step) {
    const BulkStage stage = StageOf(base, step);
    std::uint32_t parity = step / kBulkStages % 2;
    if (kBug == BulkBug::kFullParity) parity ^= 1;
    if (kBug == BulkBug::kParityNeverFlips) parity = 0;
    sk::MbarrierWait(stage.full, parity);
    if (kBug == BulkBug::kEarlyRelease && lane == 0) sk::MbarrierArrive(stage.empty);

    const sk::MatrixDescriptor a =
        sk::Describe({.start = stage.tiles, .stride_bytes = 1024, .swizzle = sk::Swizzle::k128});
    const sk::MatrixDescriptor b = sk::Advance(a, kBulkTileBytes);
    if constexpr (kBug != BulkBug::kNoWgmmaFence) {
      sk::WgmmaFence();
    }
    if (kBug != BulkBug::kWarpLeftOut || warp != 3) {
      SK_UNROLL
      for (std::uint32_t k = 0; k < 4; ++k) {
        const std::uint32_t of_a = sk::Index(k);
        const std::uint32_t of_b = sk::Index(k);
        sk::Wgmma<64, sk::InputType::kBf16, sk::Major::kK, sk::Major::kK>(
            d, sk::Advance(a, of_a * 32), sk::Advance(b, of_b * 32), true);
      }
    }
    if constexpr (kBug != BulkBug::kNoWgmmaCommit) {
      sk::WgmmaCommit();
    }

    // The product of the step before is done: its stage is free.
    sk::WgmmaWait<1>();
    const std::uint32_t done = kBug == BulkBug::kShallowRelease ? step : step - 1;
    const bool is_freed = kBug == BulkBug::kShallowRelease || step > 0;
    const bool is_silent = kBug == BulkBug::kNoArrive && warp == 2;
    if (kBug != BulkBug::kEarlyRelease && is_freed && !is_silent && lane == 0) {
      sk::MbarrierArrive(StageOf(base, done).empty);
    }
  }
  if constexpr (kBug != BulkBug::kNoWgmmaWait) {
    sk::WgmmaWait<0>();
  }

  SK_UNROLL
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t row = 16 * warp + lane / 4 + i / 2 % 2 * 8;
    params.c[sk::Index(row * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2)] = d[i];
  }
}

template <BulkBug kBug>
SK_KERNEL_REGISTERS(kBulkRegisters)
void BulkPipeline(BulkPipelineParams params) {
  const sk::SharedAddress base = sk::ToShared(sk::SharedMemory());

  // Phase 1: one thread makes the mbarriers; the async proxy, then everyone, may use them.
  if (sk::ThreadIndex() == 0) {
    for (std::uint32_t i = 0; i < kBulkStages; ++i) {
      const BulkStage stage = StageOf(base, i);
      sk::MbarrierInit(stage.full, kBug == BulkBug::kArrivalsMore ? 2 : 1);
      sk::MbarrierInit(stage.empty, kBug == BulkBug::kArrivalsLess ? 3 : 4);
    }
    if constexpr (kBug != BulkBug::kNoInitFence) {
      sk::FenceMbarrierInit();
    }
  }
  if constexpr (kBug != BulkBug::kNoInitBarrier) {
    sk::SyncBlock();
  }

  // Phase 2: warpgroup 1 fills stages, warpgroup 0 empties them.
  if (sk::WarpIndex() >= 4) {
    sk::ReleaseRegisters<40>();
    if (sk::WarpIndex() == 4 && sk::LaneIndex() == 0) Produce<kBug>(params, base);
  } else {
    sk::ClaimRegisters<232>();
    Consume<kBug>(params, base);
  }
}

}  // namespace cairn::test

#endif  // CAIRN_KERNELS_TEST_BULK_PIPELINE_H_
