#ifndef CAIRN_KERNELS_TEST_COPY_PIPELINE_H_
#define CAIRN_KERNELS_TEST_COPY_PIPELINE_H_

#include "kernels/sk/sk.h"

// A 64x64 tile of A * B^T in bf16 by cp.async, ldmatrix and mma.sync: the classic three-stage
// pipeline with one barrier a step. A specimen for the bug suite, and readable as an example.

namespace cairn::test {

struct CopyPipelineParams {
  const std::uint16_t* a;  // [64][k]
  const std::uint16_t* b;  // [64][k]
  float* c;                // [64][64]
  std::uint32_t k;         // multiple of 32
};

enum class CopyBug {
  kNone,
  kNoBarrier,    // nobody waits for the other threads' copies
  kShallowWait,  // one group too few
  kNoWait,
  kEarlyReuse,      // the next copy overwrites a stage that slower warps still read
  kNoCommit,        // copies belong to no group that is waited for
  kTailCommit,      // no (empty) groups in the tail: the wait counts wrongly there
  kSkippedBarrier,  // one warp leaves out one barrier
  kOutOfBounds,     // one row too many is read
};

inline constexpr std::uint32_t kCopyStages = 3;
inline constexpr std::uint32_t kCopyRowBytes =
    80;  // 64 and a pad: ldmatrix rows in 8 different banks
inline constexpr std::uint32_t kCopyTileBytes = 64 * kCopyRowBytes;
inline constexpr std::uint32_t kCopySharedBytes = kCopyStages * 2 * kCopyTileBytes;
inline constexpr std::uint32_t kCopyThreads = 128;

// Copies k-columns [32 step, 32 step + 32) of A and B into the step's stage: 4 x 16 bytes a thread.
SK_DEVICE void LoadStep(const CopyPipelineParams& params, sk::SharedAddress base,
                        std::uint32_t step, std::uint32_t extra_rows) {
  const sk::SharedAddress stage = base + sk::Index(step % kCopyStages) * 2 * kCopyTileBytes;
  for (std::uint32_t i = sk::ThreadIndex(); i < 256; i += kCopyThreads) {
    const std::uint32_t row = i / 4, chunk = i % 4;
    const std::uint32_t piece = row * (kCopyRowBytes / 16) + chunk;
    const std::size_t source = std::size_t{row + extra_rows} * (params.k / 8) + step * 4 + chunk;
    const std::uint32_t to_a = sk::Index(piece);
    const std::size_t from_a = sk::Index(source);
    sk::CopyAsync<16>(stage + to_a * 16, params.a + from_a * 8);
    const std::uint32_t to_b = sk::Index(piece);
    const std::size_t from_b = sk::Index(source);
    sk::CopyAsync<16>(stage + kCopyTileBytes + to_b * 16, params.b + from_b * 8);
  }
}

template <CopyBug kBug>
SK_KERNEL void CopyPipeline(CopyPipelineParams params) {
  const sk::SharedAddress base = sk::ToShared(sk::SharedMemory());
  const std::uint32_t warp = sk::WarpIndex(), lane = sk::LaneIndex();
  const std::uint32_t steps = params.k / 32;
  const std::uint32_t extra = kBug == CopyBug::kOutOfBounds ? 1 : 0;
  float c[8][4] = {};

  // Phase 1: fill all stages but one.
  for (std::uint32_t step = 0; step < kCopyStages - 1; ++step) {
    if (step < steps) LoadStep(params, base, step, extra);
    if constexpr (kBug != CopyBug::kNoCommit) {
      sk::CommitCopies();
    }
  }

  for (std::uint32_t step = 0; step < steps; ++step) {
    const std::uint32_t next = step + kCopyStages - 1;
    if (kBug == CopyBug::kEarlyReuse && next < steps) LoadStep(params, base, next, extra);

    // Phase 2: this step's bytes are here for all threads, and all have left the step before.
    if constexpr (kBug == CopyBug::kShallowWait) {
      sk::WaitCopies<kCopyStages - 1>();
    } else if constexpr (kBug != CopyBug::kNoWait) {
      sk::WaitCopies<kCopyStages - 2>();
    }
    const bool skips = kBug == CopyBug::kSkippedBarrier && warp == 1 && step == 2;
    if (kBug != CopyBug::kNoBarrier && !skips) {
      sk::SyncBlock();
    }

    // Phase 3: refill the stage that the step before has left.
    if (kBug != CopyBug::kEarlyReuse && next < steps) LoadStep(params, base, next, extra);
    if (kBug != CopyBug::kNoCommit && (kBug != CopyBug::kTailCommit || next < steps)) {
      sk::CommitCopies();
    }

    // Phase 4: rows 16 warp .. +15 of A against all 64 rows of B, 16 columns of k at a time.
    const sk::SharedAddress tile_a = base + sk::Index(step % kCopyStages) * 2 * kCopyTileBytes;
    const sk::SharedAddress tile_b = tile_a + kCopyTileBytes;
    SK_UNROLL
    for (std::uint32_t k = 0; k < 2; ++k) {
      std::uint32_t a[4];
      const std::uint32_t row_a = sk::Index(16 * warp + lane % 16);
      const std::uint32_t chunk_a = sk::Index(2 * k + lane / 16);
      sk::LoadMatrix<4>(a, tile_a + row_a * kCopyRowBytes + chunk_a * 16);
      SK_UNROLL
      for (std::uint32_t n = 0; n < 8; ++n) {
        std::uint32_t b[2];
        const std::uint32_t row_b = sk::Index(8 * n + lane % 8);
        const std::uint32_t chunk_b = sk::Index(2 * k + lane / 8 % 2);
        sk::LoadMatrix<2>(b, tile_b + row_b * kCopyRowBytes + chunk_b * 16);
        sk::MmaBf16(c[n], a, b);
      }
    }
  }

  SK_UNROLL
  for (std::uint32_t n = 0; n < 8; ++n) {
    const std::uint32_t at = (16 * warp + lane / 4) * 64 + 8 * n + lane % 4 * 2;
    params.c[sk::Index(at)] = c[n][0];
    params.c[sk::Index(at + 1)] = c[n][1];
    params.c[sk::Index(at + 8 * 64)] = c[n][2];
    params.c[sk::Index(at + 8 * 64 + 1)] = c[n][3];
  }
}

}  // namespace cairn::test

#endif  // CAIRN_KERNELS_TEST_COPY_PIPELINE_H_
