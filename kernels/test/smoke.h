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

// ---- 64 threads, grid 2 x 3 x 4 -----------------------------------------------------------------
inline constexpr std::uint32_t kSmokeBlocks = 2 * 3 * 4;
// In `scratch`: a word a block, which it counts up.
inline constexpr std::uint32_t kSmokeBlockWords = 960;

SK_KERNEL void SmokeThreads(SmokeParams params) {
  const std::uint32_t lane = sk::LaneIndex(), thread = sk::ThreadIndex();
  Check(params, kIndices,
        thread == sk::WarpIndex() * 32 + lane && sk::ThreadCount() == 64 &&
            sk::BlockCountX() == 2 && sk::BlockCountY() == 3 && sk::BlockCountZ() == 4);
  const std::uint32_t block =
      sk::BlockIndexX() + 2 * (sk::BlockIndexY() + 3 * sk::BlockIndexZ());  // SmokeCopies looks
  if (thread == 0) sk::AtomicAdd(params.scratch + kSmokeBlockWords + block % 32, 1u);

  const std::uint32_t crossed = sk::ShuffleXor(lane, 19);
  const float crossed_float = sk::ShuffleXor(static_cast<float>(lane), 24);
  const std::uint32_t named = sk::Shuffle(lane * 2, 5);
  const float named_float = sk::Shuffle(static_cast<float>(lane), 6);
  const std::uint32_t from_below = sk::ShuffleUp(lane, 1);
  const std::uint32_t from_above = sk::ShuffleDown(lane, 1);
  Check(params, kShuffles,
        crossed == (lane ^ 19) && crossed_float == static_cast<float>(lane ^ 24) && named == 10 &&
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
  // Of values that no compiler knows: one rounding (two make 8192), NaN, and the sign of zero.
  const float zero = static_cast<float>(params.words[0]), whole = zero + 4097.0f;
  const float nan = sk::LowBf16(params.words[0] + 0x7fc0u);
  Check(params, kNumbers,
        sk::Fma(whole, whole, -16777216.0f) == 8193.0f && sk::Max(nan, 2.0f) == 2.0f &&
            sk::Max(2.0f, nan) == 2.0f && sk::Rcp(sk::Max(-zero, zero)) > 0 &&
            sk::Rcp(sk::Max(zero, -zero)) > 0);

  // Atomics on shared memory (their results are checked after a barrier) and on global memory.
  auto* shared = reinterpret_cast<std::uint32_t*>(sk::SharedMemory());
  if (thread < 8) shared[thread] = 0;
  sk::SyncBlock();
  sk::AtomicAdd(shared, 2u);
  sk::AtomicAdd(reinterpret_cast<float*>(shared + 1), 0.5f);
  sk::AtomicMax(shared + 2, thread);
  const std::uint32_t before = sk::AtomicCompareExchange(shared + 3, 0, thread + 1);
  if (thread == 9) sk::AtomicExchange(shared + 4, 2);
  sk::SyncWarp();
  if (thread == 10) sk::AtomicExchange(shared + 4, 77);
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
        four.x == thread * 4 && four.y == thread * 4 + 1 && four.z == thread * 4 + 2 &&
            four.w == thread * 4 + 3 && streamed.x == thread * 4 && streamed.y == thread * 4 + 1 &&
            streamed.z == thread * 4 + 2 && streamed.w == thread * 4 + 3);
  const std::uint32_t next = (thread ^ 1) * 4;
  Check(params, kMemory,
        shared[next] == next && shared[next + 1] == next + 1 && shared[next + 2] == next + 2 &&
            shared[next + 3] == next + 3 && sk::ToShared(shared + 4) == sk::ToShared(shared) + 16);
  sk::SyncBlock();

  // Warp 0 tells warp 1 by named barriers, which it would wait at in the wrong
  // order.
  if (sk::WarpIndex() == 0) {
    shared[lane] = lane + 100;
    sk::ArriveNamed(3, 64);
    sk::ArriveNamed(5, 64);
  } else {
    sk::SyncNamed(5, 64);
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
  Check(params, kIndices, params.scratch[kSmokeBlockWords + lane] == (lane < kSmokeBlocks ? 1 : 0));
  Check(params, kMemory, base % 1024 == 0);

  sk::CopyAsync<16>(base + lane * 16, params.words + lane * 4);
  sk::CommitCopies();
  sk::CopyAsync<8>(base + 512 + lane * 8, params.words + lane * 2);
  sk::CopyAsync<4>(base + 768 + lane * 4, params.words + lane);
  sk::CommitCopies();
  sk::CopyAsyncZeroFill<16>(base + 1024 + lane * 16, params.words + lane * 4, lane % 2 * 8);
  sk::CopyAsyncZeroFill<8>(base + 1536 + lane * 8, params.words + 64 + lane * 2, lane % 2 * 4);
  sk::CopyAsyncZeroFill<4>(base + 1792 + lane * 4, params.words + 64 + lane, lane % 2 * 4);
  sk::CommitCopies();
  sk::WaitCopies<2>();
  Check(params, kCopies, shared[lane * 4 + 3] == lane * 4 + 3);
  sk::WaitCopies<0>();
  sk::SyncWarp();
  const std::uint32_t other = lane ^ 1;
  Check(params, kCopies,
        shared[128 + other * 2] == other * 2 && shared[129 + other * 2] == other * 2 + 1 &&
            shared[192 + other] == other &&
            shared[384 + other * 2] == (other % 2 != 0 ? 64 + other * 2 : 0) &&
            shared[385 + other * 2] == 0 &&
            shared[448 + other] == (other % 2 != 0 ? 64 + other : 0) &&
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
    Check(params, kBulkIn, !sk::MbarrierTryWait(mbarrier, 0));  // one has not come
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
        one[0] == plain && two[0] == plain && turned[0] == crossed && turned_two[0] == crossed);
  SK_UNROLL
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t on = i * 0x00400040;  // 64 numbers
    Check(params, kFragments, four[i] == plain + on && turned_four[i] == crossed + on);
    if (i < 2) Check(params, kFragments, two[i] == plain + on && turned_two[i] == crossed + on);
  }
  sk::SyncWarp();
  sk::StoreMatrix<4>(base + lane * 16, turned_four);
  sk::StoreMatrix<2>(base + 512 + lane % 16 * 16, two);
  sk::StoreMatrix<1>(base + 768 + lane % 8 * 16, one);
  sk::SyncWarp();
  Check(params, kFragments,
        rows[lane] == crossed && rows[32 + lane] == crossed + 0x00400040 &&
            rows[64 + lane] == crossed + 2 * 0x00400040 &&
            rows[96 + lane] == crossed + 3 * 0x00400040 && rows[128 + lane] == plain &&
            rows[128 + 32 + lane] == plain + 0x00400040 && rows[192 + lane] == plain);

  // A[m][k] = m - k and B[k][n] = (k == n) + 2 (k == n + 8): C[m][n] = 3m - 3n - 16, plus a start
  // of 1 to 4.
  float c[4] = {1, 2, 3, 4}, h[4] = {1, 2, 3, 4};
  std::uint32_t a[4], a16[4], b[2], b16[2];
  SK_UNROLL
  for (std::uint32_t i = 0; i < 4; ++i) {
    const float value = static_cast<float>(g + i % 2 * 8) - static_cast<float>(2 * t + i / 2 * 8);
    a[i] = sk::PackBf16(value, value - 1);
    a16[i] = sk::PackF16(value, value - 1);
  }
  SK_UNROLL
  for (std::uint32_t i = 0; i < 2; ++i) {
    const float one_or_two = static_cast<float>(1 + i);
    b[i] = sk::PackBf16(2 * t == g ? one_or_two : 0, 2 * t + 1 == g ? one_or_two : 0);
    b16[i] = sk::PackF16(2 * t == g ? one_or_two : 0, 2 * t + 1 == g ? one_or_two : 0);
  }
  sk::MmaBf16(c, a, b);
  sk::MmaF16(h, a16, b16);
  const float expected = 3.0f * static_cast<float>(g) - 6.0f * static_cast<float>(t) - 15.0f;
  Check(params, kMma,
        c[0] == expected && c[1] == expected - 2 && c[2] == expected + 26 &&
            c[3] == expected + 24 && h[0] == c[0] && h[1] == c[1] && h[2] == c[2] && h[3] == c[3]);
}

// ---- wgmma: two warpgroups, of which the first multiplies ---------------------------------------

inline constexpr std::uint32_t kSmokeRegisters = 168;
inline constexpr std::uint32_t kSmokeProductBytes = 64 * 32 + 256 * 32;

// A[m][k] = m + 2 k and B[k][n] = n + (k == 3), small integers: exact. Twice, of which only the
// second adds: D[m][n] = 2 (16 m n + 240 n + m + 6). In the unswizzled layouts.
template <int kN, sk::InputType kType, sk::Major kMajorA, sk::Major kMajorB, bool kRegisterA>
SK_DEVICE void SmokeProduct(const SmokeParams& params) {
  constexpr bool kIsBf16 = kType == sk::InputType::kBf16;
  const std::uint32_t thread = sk::ThreadIndex(), lane = sk::LaneIndex();
  auto* tile_a = reinterpret_cast<std::uint16_t*>(sk::SharedMemory());
  std::uint16_t* tile_b = tile_a + 64 * 16;
  const auto pack = [](std::uint32_t low, std::uint32_t high) {
    const auto first = static_cast<float>(low), second = static_cast<float>(high);
    return kIsBf16 ? sk::PackBf16(first, second) : sk::PackF16(first, second);
  };
  // K-major: chunk (m / 8, k / 8) of 8 rows of m; MN-major: of 8 rows of k.
  for (std::uint32_t i = thread; i < 64 * 16; i += 128) {
    const std::uint32_t m = i / 16, k = i % 16;
    const std::uint32_t place = m / 8 * 128 + k / 8 * 64 +
                                (kMajorA == sk::Major::kK ? m % 8 * 8 + k % 8 : k % 8 * 8 + m % 8);
    tile_a[place] = static_cast<std::uint16_t>(pack(m + 2 * k, 0));
  }
  for (std::uint32_t i = thread; i < kN * 16; i += 128) {
    const std::uint32_t n = i / 16, k = i % 16;
    const std::uint32_t place = kMajorB == sk::Major::kK
                                    ? n / 8 * 128 + k / 8 * 64 + n % 8 * 8 + k % 8
                                    : n / 8 * 128 + k / 8 * 64 + k % 8 * 8 + n % 8;
    tile_b[place] = static_cast<std::uint16_t>(pack(n + (k == 3 ? 1 : 0), 0));
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
  const std::uint32_t row = thread / 32 * 16 + lane / 4;
  std::uint32_t fragment[4];
  SK_UNROLL
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t sum = row + i % 2 * 8 + 2 * (lane % 4 * 2 + i / 2 * 8);
    fragment[i] = pack(sum, sum + 2);
  }
  sk::WgmmaFence();
  if constexpr (kRegisterA) {
    sk::Wgmma<kN, kType, kMajorB>(d, fragment, b, false);
    sk::Wgmma<kN, kType, kMajorB>(d, fragment, b, true);
  } else {
    sk::Wgmma<kN, kType, kMajorA, kMajorB>(d, a, b, false);
    sk::Wgmma<kN, kType, kMajorA, kMajorB>(d, a, b, true);
  }
  sk::WgmmaCommit();
  sk::WgmmaWait<0>();
  SK_UNROLL
  for (int i = 0; i < kN / 2; ++i) {
    const std::uint32_t n = static_cast<std::uint32_t>(i) / 4 * 8 + lane % 4 * 2 + i % 2;
    const std::uint32_t m = row + static_cast<std::uint32_t>(i) % 4 / 2 * 8;
    const std::uint32_t sum = 16 * m * n + 240 * n + m + 6;
    Check(params, kProducts, d[i] == static_cast<float>(2 * sum));
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
