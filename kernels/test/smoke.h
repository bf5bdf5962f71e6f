#ifndef CAIRN_KERNELS_TEST_SMOKE_H_
#define CAIRN_KERNELS_TEST_SMOKE_H_

#include "kernels/sk/sk.h"

// Kernels that use every name of sk once, and say for each whether it did what it should: one word
// of `failures` a line of the table below, counted up by each thread that was let down. They run
// under the emulator (smoke_test.cc) and, compiled by nvcc, on a GPU (smoke.cu).

namespace cairn::test {

struct SmokeParams {
  std::uint32_t* failures;     // [kSmokeChecks], zero at first
  const std::uint32_t* words;  // [1024], word i is i
  std::uint32_t* scratch;      // [1024], zero at first; 16-byte aligned as `words` is
};

enum SmokeCheck : std::uint32_t {
  kIndices,
  kShuffles,
  kVotes,
  kNumbers,
  kAtomics,
  kMemory,
  kNamed,
  kCopies,
  kBulkIn,
  kBulkOut,
  kFragments,
  kMma,
  kProducts,
  kSmokeChecks
};

SK_DEVICE void Check(const SmokeParams& params, SmokeCheck check, bool is_right) {
  if (!is_right) sk::AtomicAdd(params.failures + check, 1u);
}

// ---- 64 threads, grid 2 x 2 x 2 -----------------------------------------------------------------
SK_KERNEL void SmokeThreads(SmokeParams params) {
  const std::uint32_t lane = sk::LaneIndex(), thread = sk::ThreadIndex();
  Check(params, kIndices,
        thread == sk::WarpIndex() * 32 + lane && sk::ThreadCount() == 64 && sk::BlockIndexX() < 2 &&
            sk::BlockIndexY() < 2 && sk::BlockIndexZ() < 2 &&
            sk::BlockCountX() * sk::BlockCountY() * sk::BlockCountZ() == 8);

  const std::uint32_t crossed = sk::ShuffleXor(lane, 3);
  const float crossed_float = sk::ShuffleXor(static_cast<float>(lane), 8);
  const std::uint32_t named = sk::Shuffle(lane * 2, 5);
  const float named_float = sk::Shuffle(static_cast<float>(lane), 6);
  const std::uint32_t from_below = sk::ShuffleUp(lane, 1);
  const std::uint32_t from_above = sk::ShuffleDown(lane, 1);
  Check(params, kShuffles,
        crossed == (lane ^ 3) && crossed_float == static_cast<float>(lane ^ 8) && named == 10 &&
            named_float == 6.0f && from_below == (lane == 0 ? 0 : lane - 1) &&
            from_above == (lane == 31 ? 31 : lane + 1));

  const std::uint32_t votes = sk::Ballot(lane < 4);
  const std::uint32_t sum = sk::ReduceAdd(lane);
  const std::uint32_t most = sk::ReduceMax(lane + 1);
  const std::uint32_t least = sk::ReduceMin(lane + 7);
  const bool is_elected = sk::ElectOne();
  const std::uint32_t elected = sk::Ballot(is_elected);
  Check(params, kVotes,
        votes == 15 && sum == 496 && most == 32 && least == 7 && elected != 0 &&
            (elected & (elected - 1)) == 0);

  const std::uint32_t same = sk::Index(thread);
  const std::uint32_t bf16 = sk::PackBf16(1.5f, -2.0f), f16 = sk::PackF16(1.5f, -2.0f);
  Check(params, kNumbers,
        bf16 == 0xc0003fc0u && sk::LowBf16(bf16) == 1.5f && sk::HighBf16(bf16) == -2.0f &&
            f16 == 0xc0003e00u && sk::LowF16(f16) == 1.5f && sk::HighF16(f16) == -2.0f &&
            sk::E4m3ToF16(sk::PackE4m3(1.5f, -2.0f)) == f16 && sk::Ex2(3.0f) == 8.0f &&
            sk::Rcp(4.0f) == 0.25f && sk::Fma(2.0f, 3.0f, 1.0f) == 7.0f &&
            sk::Max(-3.0f, 2.0f) == 2.0f && same == thread &&
            sk::MultiplyHigh(std::uint64_t{3} << 62, 6) == 4);

  // Atomics on shared memory (their results are checked after a barrier) and on global memory.
  auto* shared = reinterpret_cast<std::uint32_t*>(sk::SharedMemory());
  if (thread < 8) shared[thread] = 0;
  sk::SyncBlock();
  sk::AtomicAdd(shared, 2u);
  sk::AtomicAdd(reinterpret_cast<float*>(shared + 1), 0.5f);
  sk::AtomicMax(shared + 2, thread);
  const std::uint32_t before = sk::AtomicCompareExchange(shared + 3, 0, thread + 1);
  if (thread == 9) sk::AtomicExchange(shared + 4, 77);
  sk::FenceBlock();
  sk::SyncBlock();
  Check(params, kAtomics,
        shared[0] == 128 && reinterpret_cast<float*>(shared)[1] == 32.0f && shared[2] == 63 &&
            (before == 0) == (shared[3] == thread + 1) && shared[4] == 77);
  sk::SyncBlock();

  const sk::Words4 four = sk::Load16(params.words + thread * 4);
  const sk::Words4 streamed = sk::LoadStreaming16(params.words + thread * 4);
  sk::Store16(shared + thread * 4, four);
  sk::SyncWarp();
  Check(params, kMemory,
        four.x == thread * 4 && streamed.w == thread * 4 + 3 &&
            shared[(thread ^ 1) * 4 + 1] == (thread ^ 1) * 4 + 1 &&
            sk::ToShared(shared + 4) == sk::ToShared(shared) + 16);
  sk::SyncBlock();

  // Warp 0 tells warp 1 by a named barrier.
  if (sk::WarpIndex() == 0) {
    shared[lane] = lane + 100;
    sk::ArriveNamed(3, 64);
  } else {
    sk::SyncNamed(3, 64);
    Check(params, kNamed, shared[lane] == lane + 100);
  }
  // The last block to come raises a flag that it polls itself.
  if (thread == 0) {
    sk::AtomicAdd(params.scratch + 1000, 1u);
    sk::FenceDevice();
    while (sk::AtomicAdd(params.scratch + 1000, 0u) == 0) sk::Pause();
  }
}

// ---- One warp -----------------------------------------------------------------------------------
SK_KERNEL void SmokeCopies(SmokeParams params) {
  const std::uint32_t lane = sk::LaneIndex();
  auto* shared = reinterpret_cast<std::uint32_t*>(sk::SharedMemory());
  const sk::SharedAddress base = sk::ToShared(shared), mbarrier = base + 2048;

  sk::CopyAsync<16>(base + lane * 16, params.words + lane * 4);
  sk::CommitCopies();
  sk::CopyAsync<8>(base + 512 + lane * 8, params.words + lane * 2);
  sk::CopyAsync<4>(base + 768 + lane * 4, params.words + lane);
  sk::CommitCopies();
  sk::CopyAsyncZeroFill<16>(base + 1024 + lane * 16, params.words + lane * 4, lane % 2 * 8);
  sk::CommitCopies();
  sk::WaitCopies<2>();
  Check(params, kCopies, shared[lane * 4 + 3] == lane * 4 + 3);
  sk::WaitCopies<0>();
  sk::SyncWarp();
  const std::uint32_t other = lane ^ 1;
  Check(params, kCopies,
        shared[128 + other * 2] == other * 2 && shared[192 + other] == other &&
            shared[256 + other * 4 + 1] == (other % 2 != 0 ? other * 4 + 1 : 0) &&
            shared[256 + other * 4 + 2] == 0);

  // In by bulk copies, one in two parts and, in the next phase, another; by mbarriers of two lives.
  if (lane == 0) {
    sk::FenceProxyAsync();  // the bytes below were written by cp.async, which is generic
    sk::MbarrierInit(mbarrier, 1);
    sk::MbarrierInvalidate(mbarrier);
    sk::MbarrierInit(mbarrier, 2);
    sk::FenceMbarrierInit();
  }
  sk::SyncWarp();
  if (lane == 0) {
    sk::MbarrierExpect(mbarrier, 512);
    sk::BulkLoad(base, params.words + 128, 512, mbarrier);
    sk::MbarrierArriveExpect(mbarrier, 512);
    sk::BulkLoad(base + 512, params.words + 256, 512, mbarrier);
    sk::MbarrierArrive(mbarrier);
  }
  sk::MbarrierWait(mbarrier, 0);
  Check(params, kBulkIn, shared[lane] == lane + 128 && shared[255 - lane] == 383 - lane);
  sk::SyncWarp();
  if (lane == 0) {
    sk::MbarrierArriveExpect(mbarrier, 128);
    sk::BulkLoad(base, params.words + 512, 128, mbarrier);
    sk::MbarrierArrive(mbarrier);
  }
  while (!sk::MbarrierTryWait(mbarrier, 1)) sk::Pause();
  Check(params, kBulkIn, shared[31 - lane] == 543 - lane);
  sk::SyncWarp();

  // Out by two bulk copies of one source, which is rewritten once the first has read it.
  shared[lane] = lane + 1;
  sk::FenceProxyAsync();
  sk::SyncWarp();
  if (lane == 0) {
    sk::BulkStore(params.scratch, base, 128);
    sk::CommitBulk();
    sk::WaitBulkRead<0>();
  }
  sk::SyncWarp();
  shared[lane] = lane + 100;
  sk::FenceProxyAsync();
  sk::SyncWarp();
  if (lane == 0) {
    sk::BulkStore(params.scratch + 32, base, 128);
    sk::CommitBulk();
    sk::WaitBulk<0>();
    Check(params, kBulkOut, params.scratch[31] == 32 && params.scratch[63] == 131);
  }
}

// A 16x16 matrix of small integers times a 16x8 one, by fragments that ldmatrix made.
SK_KERNEL void SmokeMatrices(SmokeParams params) {
  const std::uint32_t lane = sk::LaneIndex(), g = lane / 4, t = lane % 4;
  auto* rows = reinterpret_cast<std::uint32_t*>(sk::SharedMemory());
  const sk::SharedAddress base = sk::ToShared(rows);
  // Row r holds the pairs (8r, 8r + 1), ... of 16-bit numbers, in 16 bytes: 32 rows, each written
  // by another lane than the one that will name it.
  const std::uint32_t row = lane ^ 1;
  for (std::uint32_t i = 0; i < 4; ++i) {
    rows[row * 4 + i] = (row * 8 + i * 2) | (row * 8 + i * 2 + 1) << 16;
  }
  sk::SyncWarp();
  std::uint32_t one[1], two[2], four[4], turned[1], turned_two[2], turned_four[4];
  sk::LoadMatrix<1>(one, base + lane % 8 * 16);
  sk::LoadMatrix<2>(two, base + lane % 16 * 16);
  sk::LoadMatrix<4>(four, base + lane * 16);
  sk::LoadMatrixTransposed<1>(turned, base + lane % 8 * 16);
  sk::LoadMatrixTransposed<2>(turned_two, base + lane % 16 * 16);
  sk::LoadMatrixTransposed<4>(turned_four, base + lane * 16);
  const std::uint32_t plain = (g * 8 + 2 * t) | (g * 8 + 2 * t + 1) << 16;
  const std::uint32_t crossed = (2 * t * 8 + g) | ((2 * t + 1) * 8 + g) << 16;
  Check(params, kFragments,
        one[0] == plain && two[1] == plain + 0x00400040 && four[3] == plain + 3 * 0x00400040 &&
            turned[0] == crossed && turned_two[1] == crossed + 0x00400040 &&
            turned_four[3] == crossed + 3 * 0x00400040);
  sk::SyncWarp();
  sk::StoreMatrix<4>(base + lane * 16, turned_four);
  sk::StoreMatrix<2>(base + 512 + lane % 16 * 16, two);
  sk::StoreMatrix<1>(base + 768 + lane % 8 * 16, one);
  sk::SyncWarp();
  Check(params, kFragments,
        (rows[g * 4 + t] & 0xffff) == 2 * t * 8 + g &&
            rows[128 + 32 + lane] == plain + 0x00400040 && rows[192 + lane] == plain);

  // A[m][k] = m - k and B[k][n] = (k == n) + (k == n + 8): C[m][n] = 2m - 2n - 8, plus a start
  // of 1.
  float c[4] = {1, 1, 1, 1}, h[4] = {1, 1, 1, 1};
  std::uint32_t a[4], a16[4], b[2], b16[2];
  SK_UNROLL
  for (std::uint32_t i = 0; i < 4; ++i) {
    const float value = static_cast<float>(g + i % 2 * 8) - static_cast<float>(2 * t + i / 2 * 8);
    a[i] = sk::PackBf16(value, value - 1);
    a16[i] = sk::PackF16(value, value - 1);
  }
  SK_UNROLL
  for (std::uint32_t i = 0; i < 2; ++i) {
    b[i] = sk::PackBf16(2 * t == g ? 1.0f : 0.0f, 2 * t + 1 == g ? 1.0f : 0.0f);
    b16[i] = sk::PackF16(2 * t == g ? 1.0f : 0.0f, 2 * t + 1 == g ? 1.0f : 0.0f);
  }
  sk::MmaBf16(c, a, b);
  sk::MmaF16(h, a16, b16);
  const float expected = 2.0f * static_cast<float>(g) - 4.0f * static_cast<float>(t) - 7.0f;
  Check(params, kMma,
        c[0] == expected && c[1] == expected - 2 && c[2] == expected + 16 &&
            c[3] == expected + 14 && h[0] == c[0] && h[1] == c[1] && h[2] == c[2] && h[3] == c[3]);
}

// ---- wgmma: two warpgroups, of which the first multiplies ---------------------------------------

inline constexpr std::uint32_t kSmokeRegisters = 168;
inline constexpr std::uint32_t kSmokeProductBytes = 64 * 32 + 256 * 32;

// All of A is 1, B's row of N is its index (small integers: exact), so D[m][n] = 16 n or, with the
// start of `accumulate`, 16 n + 1. In the unswizzled layouts, where only chunks' places matter.
template <int kN, sk::InputType kType, sk::Major kMajorA, sk::Major kMajorB, bool kRegisterA>
SK_DEVICE void SmokeProduct(const SmokeParams& params) {
  constexpr bool kIsBf16 = kType == sk::InputType::kBf16;
  const std::uint32_t thread = sk::ThreadIndex(), lane = sk::LaneIndex();
  auto* tile_a = reinterpret_cast<std::uint16_t*>(sk::SharedMemory());
  std::uint16_t* tile_b = tile_a + 64 * 16;
  const std::uint32_t ones = kIsBf16 ? sk::PackBf16(1, 1) : sk::PackF16(1, 1);
  for (std::uint32_t i = thread; i < 64 * 16; i += 128) {
    tile_a[i] = static_cast<std::uint16_t>(ones);
  }
  for (std::uint32_t i = thread; i < kN * 16; i += 128) {
    // K-major: chunk (n / 8, k / 8) of 8 rows of n; MN-major: of 8 rows of k.
    const std::uint32_t n = i / 16, k = i % 16;
    const std::uint32_t place = kMajorB == sk::Major::kK
                                    ? n / 8 * 128 + k / 8 * 64 + n % 8 * 8 + k % 8
                                    : n / 8 * 128 + k / 8 * 64 + k % 8 * 8 + n % 8;
    const float value = static_cast<float>(n);
    tile_b[place] =
        static_cast<std::uint16_t>(kIsBf16 ? sk::PackBf16(value, 0) : sk::PackF16(value, 0));
  }
  sk::FenceProxyAsync();
  sk::SyncNamed(4, 128);

  // Chunk columns of k are 128 bytes apart, chunk rows of M or N 256.
  const sk::MatrixDescriptor b =
      sk::Describe({.start = sk::ToShared(tile_b), .leading_bytes = 128, .stride_bytes = 256});
  const sk::MatrixDescriptor a =
      sk::Describe({.start = sk::ToShared(tile_a), .leading_bytes = 128, .stride_bytes = 256});
  float d[kN / 2];
  SK_UNROLL
  for (int i = 0; i < kN / 2; ++i) d[i] = 1.0f;
  std::uint32_t fragment[4] = {ones, ones, ones, ones};
  sk::WgmmaFence();
  if constexpr (kRegisterA) {
    sk::Wgmma<kN, kType, kMajorB>(d, fragment, b, true);
  } else {
    sk::Wgmma<kN, kType, kMajorA, kMajorB>(d, a, b, true);
  }
  sk::WgmmaCommit();
  sk::WgmmaWait<0>();
  SK_UNROLL
  for (int i = 0; i < kN / 2; ++i) {
    const std::uint32_t n = static_cast<std::uint32_t>(i) / 4 * 8 + lane % 4 * 2 + i % 2;
    Check(params, kProducts, d[i] == 16.0f * static_cast<float>(n) + 1.0f);
  }
  sk::SyncNamed(4, 128);
}

template <int kN>
SK_KERNEL_REGISTERS(kSmokeRegisters)
void SmokeProducts(SmokeParams params) {
  using sk::InputType;
  using sk::Major;
  if (sk::WarpIndex() >= 4) {
    sk::ReleaseRegisters<24>();
    return;
  }
  sk::ClaimRegisters<232>();
  SmokeProduct<kN, InputType::kBf16, Major::kK, Major::kK, false>(params);
  SmokeProduct<kN, InputType::kBf16, Major::kMn, Major::kMn, false>(params);
  SmokeProduct<kN, InputType::kBf16, Major::kK, Major::kMn, true>(params);
  SmokeProduct<kN, InputType::kF16, Major::kK, Major::kMn, false>(params);
  SmokeProduct<kN, InputType::kF16, Major::kK, Major::kK, true>(params);
}

}  // namespace cairn::test

#endif  // CAIRN_KERNELS_TEST_SMOKE_H_
