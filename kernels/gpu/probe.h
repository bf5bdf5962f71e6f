#ifndef CAIRN_KERNELS_GPU_PROBE_H_
#define CAIRN_KERNELS_GPU_PROBE_H_

#include <cstdint>

#include "kernels/sk/rt/runtime.h"

// Small kernels that find what this GPU can do, and that make data for the others.

namespace cairn::gpu {

// Reads `bytes` (a multiple of 16) once, past L1; *sink is written for one pattern of bits only, so
// that the reads stay.
struct ReadParams {
  const std::byte* source;
  std::uint64_t bytes;
  std::uint32_t* sink;
  std::uint32_t blocks;
};
rt::Status ReadAll(rt::Stream& stream, const ReadParams& params);

struct CopyParams {
  const std::byte* source;
  std::byte* target;
  std::uint64_t bytes;  // a multiple of 16
  std::uint32_t blocks;
};
rt::Status CopyAll(rt::Stream& stream, const CopyParams& params);

// Values of bf16, evenly from (-1, 1), two a word.
struct RandomParams {
  std::uint32_t* words;
  std::uint64_t count;
  std::uint32_t seed;
  std::uint32_t blocks;
};
rt::Status FillRandom(rt::Stream& stream, const RandomParams& params);

// One warp looks at both clocks, waits for `nanoseconds`, looks again: cycles and nanoseconds that
// passed.
struct ClockParams {
  std::uint64_t* passed;  // [2]
  std::uint64_t nanoseconds;
};
rt::Status ReadClock(rt::Stream& stream, const ClockParams& params);

// Nothing but products of random data, in registers (mma.sync) or from shared memory (wgmma).
inline constexpr std::uint32_t kProductThreads = 256;  // of a block
struct ProductParams {
  float* sums;  // [blocks][kProductThreads], so that the products stay
  std::uint32_t rounds;
  std::uint32_t blocks;
};
rt::Status RunMma(rt::Stream& stream, const ProductParams& params);
rt::Status RunWgmma(rt::Stream& stream, const ProductParams& params);
// Floating-point operations of a run.
double MmaFlops(const ProductParams& params);
double WgmmaFlops(const ProductParams& params);

}  // namespace cairn::gpu

#endif  // CAIRN_KERNELS_GPU_PROBE_H_
