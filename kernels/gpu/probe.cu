#include "kernels/gpu/probe.h"

#include "kernels/gpu/clock.h"
#include "kernels/sk/sk.h"

namespace cairn::gpu {
namespace {

constexpr std::uint32_t kCopyThreads = 512;
constexpr std::uint32_t kAhead = 8;  // loads of 16 bytes that a thread has under way
constexpr std::uint32_t kMmaSums = 8;
constexpr std::uint32_t kWgmmaColumns = 256, kWgmmaSteps = 4;
constexpr std::uint32_t kWgmmaTileBytes = 2 * 64 * 32 + kWgmmaColumns * 32;  // of one step

// splitmix's last steps, in 32 bits.
SK_DEVICE std::uint32_t Hash(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}
// Two values of bf16 from (-1, 1).
SK_DEVICE std::uint32_t RandomPair(std::uint32_t x) {
  const std::uint32_t bits = Hash(x);
  const float low = static_cast<float>(static_cast<int>(bits << 16) >> 16) * 0x1p-15f;
  const float high = static_cast<float>(static_cast<int>(bits) >> 16) * 0x1p-15f;
  return sk::PackBf16(low, high);
}

SK_KERNEL void ReadWords(ReadParams params) {
  const std::uint64_t count = params.bytes / 16;
  const std::uint64_t stride = std::uint64_t{sk::BlockCountX()} * kCopyThreads;
  std::uint32_t sum = 0;
  for (std::uint64_t i = std::uint64_t{sk::BlockIndexX()} * kCopyThreads + sk::ThreadIndex();
       i < count; i += stride * kAhead) {
    sk::Words4 words[kAhead];
    SK_UNROLL
    for (std::uint32_t j = 0; j < kAhead; ++j) {
      const std::uint64_t at = i + j * stride;
      words[j] = {};
      const std::uint64_t from = sk::Index(at);
      if (at < count) words[j] = sk::LoadStreaming16(params.source + from * 16);
    }
    SK_UNROLL
    for (std::uint32_t j = 0; j < kAhead; ++j) {
      sum ^= words[j].x ^ words[j].y ^ words[j].z ^ words[j].w;
    }
  }
  if (sum == 0x12345678u) *params.sink = sum;
}

SK_KERNEL void CopyWords(CopyParams params) {
  const std::uint64_t count = params.bytes / 16;
  const std::uint64_t stride = std::uint64_t{sk::BlockCountX()} * kCopyThreads;
  for (std::uint64_t i = std::uint64_t{sk::BlockIndexX()} * kCopyThreads + sk::ThreadIndex();
       i < count; i += stride * kAhead) {
    sk::Words4 words[kAhead];
    SK_UNROLL
    for (std::uint32_t j = 0; j < kAhead; ++j) {
      const std::uint64_t at = i + j * stride;
      const std::uint64_t from = sk::Index(at);
      if (at < count) words[j] = sk::LoadStreaming16(params.source + from * 16);
    }
    SK_UNROLL
    for (std::uint32_t j = 0; j < kAhead; ++j) {
      const std::uint64_t at = i + j * stride;
      const std::uint64_t to = sk::Index(at);
      if (at < count) sk::Store16(params.target + to * 16, words[j]);
    }
  }
}

SK_KERNEL void RandomWords(RandomParams params) {
  const std::uint64_t stride = std::uint64_t{sk::BlockCountX()} * kCopyThreads;
  for (std::uint64_t i = std::uint64_t{sk::BlockIndexX()} * kCopyThreads + sk::ThreadIndex();
       i < params.count; i += stride) {
    params.words[sk::Index(i)] = RandomPair(static_cast<std::uint32_t>(i) ^ Hash(params.seed));
  }
}

SK_KERNEL void ClockWords(ClockParams params) {
  if (sk::ThreadIndex() != 0) return;
  const std::uint64_t begun = Nanoseconds(), cycles = Cycles();
  std::uint64_t now = begun;
  while (now - begun < params.nanoseconds) now = Nanoseconds();
  params.passed[sk::Index(0)] = Cycles() - cycles;
  params.passed[sk::Index(1)] = now - begun;
}

SK_KERNEL void MmaRounds(ProductParams params) {
  const std::uint32_t seed = sk::BlockIndexX() * kProductThreads + sk::ThreadIndex();
  std::uint32_t a[4], b[kMmaSums][2];
  SK_UNROLL
  for (std::uint32_t i = 0; i < 4; ++i) a[i] = RandomPair(seed * 32 + i);
  SK_UNROLL
  for (std::uint32_t i = 0; i < kMmaSums; ++i) {
    b[i][0] = RandomPair(seed * 32 + 4 + i);
    b[i][1] = RandomPair(seed * 32 + 20 + i);
  }
  float sums[kMmaSums][4] = {};
  for (std::uint32_t round = 0; round < params.rounds; ++round) {
    SK_UNROLL
    for (std::uint32_t i = 0; i < kMmaSums; ++i) {
      sk::MmaBf16(sums[i], a, b[i]);
    }
  }
  float sum = 0;
  SK_UNROLL
  for (std::uint32_t i = 0; i < kMmaSums; ++i) {
    sum += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
  }
  const std::uint32_t at = sk::BlockIndexX() * kProductThreads + sk::ThreadIndex();
  params.sums[sk::Index(at)] = sum;
}

// Two warpgroups, each with an A of its own and all of B, in kWgmmaSteps tiles that are used again
// and again. Chunks as the unswizzled layout has them: eight rows of 16 bytes.
SK_KERNEL void WgmmaRounds(ProductParams params) {
  auto* words = reinterpret_cast<std::uint32_t*>(sk::SharedMemory());
  for (std::uint32_t i = sk::ThreadIndex(); i < kWgmmaSteps * kWgmmaTileBytes / 4;
       i += kProductThreads) {
    words[sk::Index(i)] = RandomPair(i ^ Hash(sk::BlockIndexX()));
  }
  sk::FenceProxyAsync();
  sk::SyncBlock();
  const std::uint32_t group = sk::ThreadIndex() / sk::kWarpgroupThreads;
  const sk::SharedAddress base = sk::ToShared(words);
  const sk::MatrixDescriptor a =
      sk::Describe({.start = base + group * 64 * 32, .leading_bytes = 128, .stride_bytes = 256});
  const sk::MatrixDescriptor b =
      sk::Describe({.start = base + 2 * 64 * 32, .leading_bytes = 128, .stride_bytes = 256});
  float d[kWgmmaColumns / 2] = {};
  for (std::uint32_t round = 0; round < params.rounds; ++round) {
    sk::WgmmaFence();
    SK_UNROLL
    for (std::uint32_t step = 0; step < kWgmmaSteps; ++step) {
      sk::Wgmma<kWgmmaColumns, sk::InputType::kBf16, sk::Major::kK, sk::Major::kK>(
          d, sk::Advance(a, step * kWgmmaTileBytes), sk::Advance(b, step * kWgmmaTileBytes), true);
    }
    sk::WgmmaCommit();
    sk::WgmmaWait<0>();
  }
  float sum = 0;
  SK_UNROLL
  for (std::uint32_t i = 0; i < kWgmmaColumns / 2; ++i) sum += d[i];
  const std::uint32_t at = sk::BlockIndexX() * kProductThreads + sk::ThreadIndex();
  params.sums[sk::Index(at)] = sum;
}

}  // namespace

rt::Status ReadAll(rt::Stream& stream, const ReadParams& params) {
  return rt::Launch(stream, {.blocks_x = params.blocks, .threads = kCopyThreads}, ReadWords,
                    params);
}
rt::Status CopyAll(rt::Stream& stream, const CopyParams& params) {
  return rt::Launch(stream, {.blocks_x = params.blocks, .threads = kCopyThreads}, CopyWords,
                    params);
}
rt::Status FillRandom(rt::Stream& stream, const RandomParams& params) {
  return rt::Launch(stream, {.blocks_x = params.blocks, .threads = kCopyThreads}, RandomWords,
                    params);
}
rt::Status ReadClock(rt::Stream& stream, const ClockParams& params) {
  return rt::Launch(stream, {.threads = 32}, ClockWords, params);
}
rt::Status RunMma(rt::Stream& stream, const ProductParams& params) {
  return rt::Launch(stream, {.blocks_x = params.blocks, .threads = kProductThreads}, MmaRounds,
                    params);
}
rt::Status RunWgmma(rt::Stream& stream, const ProductParams& params) {
  return rt::Launch(stream,
                    {.blocks_x = params.blocks,
                     .threads = kProductThreads,
                     .shared_bytes = kWgmmaSteps * kWgmmaTileBytes},
                    WgmmaRounds, params);
}
double MmaFlops(const ProductParams& params) {
  return 2.0 * 16 * 8 * 16 * kMmaSums * (kProductThreads / 32) * params.rounds * params.blocks;
}
double WgmmaFlops(const ProductParams& params) {
  return 2.0 * 64 * kWgmmaColumns * 16 * kWgmmaSteps * 2 * params.rounds * params.blocks;
}

}  // namespace cairn::gpu
