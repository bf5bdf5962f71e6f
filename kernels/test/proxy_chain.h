#ifndef CAIRN_KERNELS_TEST_PROXY_CHAIN_H_
#define CAIRN_KERNELS_TEST_PROXY_CHAIN_H_

#include "kernels/sk/sk.h"

// D = A * B^T in four steps of 16 columns of k: B goes through shared memory by plain stores, A
// through registers or shared memory, D leaves by stmatrix and a bulk store. Everything that
// crosses from the generic to the async proxy is here. A specimen for the bug suite.

namespace cairn::test {

struct ProxyChainParams {
  const std::uint16_t* a;  // [64][64], row-major
  const std::uint16_t* b;  // [64][64]
  std::uint16_t* d;        // [64][64], bf16
};

enum class ProxyBug {
  kNone,
  kNoFence,  // wgmma may read stale shared memory
  kFenceBeforeWrite,
  kFenceByOneWarp,     // early, and for its own writes only
  kNoBarrier,          // fenced, but nobody waits for the others
  kOperandRewritten,   // A's registers get the next step's values before the wait
  kOperandAfterFence,  // ... after the fence
  kResultRewritten,    // an accumulator is scaled before the wait
  kResultReadEarly,    // an accumulator is read before the wait
  kResultAfterFence,   // an accumulator is scaled between fence and product
  kFenceOnce,          // one WgmmaFence for all steps
  kTileOverwritten,    // shared memory is rewritten before the wait
  kNoStoreFence,       // the bulk store may read stale shared memory
  kNoStoreBarrier,
  kNoBulkWait,  // the block ends before its source was read
  kNoBulkCommit,
  kStagingReused,        // the staging bytes are rewritten before they were read
  kWrongNamedCount,      // half of the group waits for all, half for half
  kNoSyncBeforeRewrite,  // a tile is rewritten while other warps' products read it
};

inline constexpr std::uint32_t kProxyThreads = 128;
inline constexpr std::uint32_t kProxyTileBytes = 64 * 32;  // 64 rows of 16 columns
inline constexpr std::uint32_t kProxySharedBytes = 2 * kProxyTileBytes + 64 * 128;

// Thread t writes half a row: 8 values of row t / 2, in the k32 swizzle.
SK_DEVICE void WriteTile(std::byte* tile, const std::uint16_t* source, std::uint32_t step) {
  const std::uint32_t row = sk::ThreadIndex() / 2, chunk = sk::ThreadIndex() % 2;
  const std::uint32_t to = sk::Index(row * 2 + chunk);
  const std::uint32_t place = sk::SwizzleAddress(to * 16, sk::Swizzle::k32);
  const std::uint32_t from = sk::Index(row * 8 + step * 2 + chunk);
  sk::Store16(tile + place, sk::Load16(source + from * 8));
}

// A fragment of rows 16 warp.. of 16 columns of k (matrix.h).
SK_DEVICE void LoadFragment(std::uint32_t (&a)[4], const std::uint16_t* source,
                            std::uint32_t step) {
  const std::uint32_t row = 16 * sk::WarpIndex() + sk::LaneIndex() / 4;
  SK_UNROLL
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t pair = (row + i % 2 * 8) * 32 + step * 8 + sk::LaneIndex() % 4 + i / 2 * 4;
    a[i] = reinterpret_cast<const std::uint32_t*>(source)[sk::Index(pair)];
  }
}

template <ProxyBug kBug>
SK_DEVICE void SyncGroup() {
  const bool is_half = kBug == ProxyBug::kWrongNamedCount && sk::WarpIndex() < 2;
  sk::SyncNamed(1, is_half ? kProxyThreads / 2 : kProxyThreads);
}

// Writes D as bf16 into `staging` (row-major) and sends it off.
template <ProxyBug kBug>
SK_DEVICE void StoreResult(const ProxyChainParams& params, const float (&d)[32],
                           std::byte* staging) {
  const std::uint32_t warp = sk::WarpIndex(), lane = sk::LaneIndex();
  const sk::SharedAddress rows = sk::ToShared(staging) + 16 * warp * 128;
  SK_UNROLL
  for (std::uint32_t j = 0; j < 8; j += 2) {  // columns 8j .. 8j + 15: four 8x8 matrices
    const std::uint32_t fragment[4] = {
        sk::PackBf16(d[4 * j], d[4 * j + 1]), sk::PackBf16(d[4 * j + 2], d[4 * j + 3]),
        sk::PackBf16(d[4 * j + 4], d[4 * j + 5]), sk::PackBf16(d[4 * j + 6], d[4 * j + 7])};
    const std::uint32_t row = sk::Index(lane % 16);
    const std::uint32_t chunk = sk::Index(j + lane / 16);
    sk::StoreMatrix<4>(rows + row * 128 + chunk * 16, fragment);
  }
  if constexpr (kBug != ProxyBug::kNoStoreFence) {
    sk::FenceProxyAsync();
  }
  if constexpr (kBug != ProxyBug::kNoStoreBarrier) {
    SyncGroup<kBug>();
  }
  if (sk::ThreadIndex() != 0) return;
  sk::BulkStore(params.d, sk::ToShared(staging), 64 * 128);
  if constexpr (kBug != ProxyBug::kNoBulkCommit) {
    sk::CommitBulk();
  }
  if constexpr (kBug == ProxyBug::kStagingReused) {
    sk::Store16(staging, {0, 0, 0, 0});
    sk::FenceProxyAsync();
  }
  if constexpr (kBug != ProxyBug::kNoBulkWait) {
    sk::WaitBulkRead<0>();
  }
}

template <ProxyBug kBug, bool kRegisterA>
SK_KERNEL void ProxyChain(ProxyChainParams params) {
  std::byte* tile_a = sk::SharedMemory();
  std::byte* tile_b = tile_a + kProxyTileBytes;
  std::byte* staging = tile_b + kProxyTileBytes;
  const sk::MatrixDescriptor a = sk::Describe(
      {.start = sk::ToShared(tile_a), .stride_bytes = 256, .swizzle = sk::Swizzle::k32});
  const sk::MatrixDescriptor b = sk::Advance(a, kProxyTileBytes);
  float d[32];
  SK_UNROLL
  for (float& value : d) value = 0.0f;
  std::uint32_t fragment[4];

  for (std::uint32_t step = 0; step < 4; ++step) {
    // Phase 1: the tiles, by plain stores; then across the proxies.
    if constexpr (kBug == ProxyBug::kFenceBeforeWrite) {
      sk::FenceProxyAsync();
    }
    if constexpr (!kRegisterA) WriteTile(tile_a, params.a, step);
    WriteTile(tile_b, params.b, step);
    const bool fences = kBug != ProxyBug::kNoFence && kBug != ProxyBug::kFenceBeforeWrite &&
                        (kBug != ProxyBug::kFenceByOneWarp || sk::WarpIndex() == 0);
    if (fences) {
      sk::FenceProxyAsync();
    }
    if constexpr (kBug != ProxyBug::kNoBarrier) {
      SyncGroup<kBug>();
    }

    // Phase 2: the product.
    if constexpr (kRegisterA && kBug != ProxyBug::kOperandAfterFence) {
      LoadFragment(fragment, params.a, step);
    }
    if (kBug != ProxyBug::kFenceOnce || step == 0) {
      sk::WgmmaFence();
    }
    if constexpr (kRegisterA && kBug == ProxyBug::kOperandAfterFence) {
      LoadFragment(fragment, params.a, step);
    }
    if (kBug == ProxyBug::kResultAfterFence && step > 0) d[5] *= 2.0f;
    if constexpr (kRegisterA) {
      sk::Wgmma<64, sk::InputType::kBf16, sk::Major::kK>(d, fragment, b, true);
    } else {
      sk::Wgmma<64, sk::InputType::kBf16, sk::Major::kK, sk::Major::kK>(d, a, b, true);
    }
    sk::WgmmaCommit();
    if constexpr (kBug == ProxyBug::kOperandRewritten) {
      LoadFragment(fragment, params.a, (step + 1) % 4);
    }
    if (kBug == ProxyBug::kResultRewritten) d[5] = 1.0f;
    float early = 0.0f;
    if (kBug == ProxyBug::kResultReadEarly) early = d[7];
    if (kBug == ProxyBug::kTileOverwritten) WriteTile(tile_b, params.a, step);
    if constexpr (kBug == ProxyBug::kTileOverwritten) {
      sk::FenceProxyAsync();
    }
    sk::WgmmaWait<0>();
    if (kBug == ProxyBug::kResultReadEarly) d[7] = early;

    // Phase 3: no warp rewrites a tile that another one's product reads.
    if constexpr (kBug != ProxyBug::kNoSyncBeforeRewrite) {
      SyncGroup<kBug>();
    }
  }
  StoreResult<kBug>(params, d, staging);
}

}  // namespace cairn::test

#endif  // CAIRN_KERNELS_TEST_PROXY_CHAIN_H_
