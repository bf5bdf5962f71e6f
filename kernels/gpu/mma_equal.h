#ifndef CAIRN_KERNELS_GPU_MMA_EQUAL_H_
#define CAIRN_KERNELS_GPU_MMA_EQUAL_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/sk/rt/runtime.h"

// Do mma.sync and wgmma give the same bits? PTX promises an order of sums for neither. The same dot
// products by both, and four more answers about mma.sync that the kernels rely on.
//
// A tile is A (64 x k) times B^T (n x k) onto a start (64 x n), bf16 in fp32, 16 of k at a time.

namespace cairn::gpu {

inline constexpr std::uint32_t kEqualRows = 64;

enum class EqualVariant : std::uint32_t {  // of wgmma
  kN8,                                     // m64n8k16, A from shared memory
  kN64,                                    // m64n64k16
  kN64Registers,                           // m64n64k16, A in registers
  kN256,                                   // m64n256k16
};
inline constexpr EqualVariant kEqualVariants[] = {EqualVariant::kN64, EqualVariant::kN64Registers,
                                                  EqualVariant::kN8, EqualVariant::kN256};
std::uint32_t ColumnsOf(EqualVariant variant);
std::string_view NameOf(EqualVariant variant);

// What is computed of each dot product.
enum EqualSum : std::uint32_t {
  kByMma,  // mma.sync
  kByWgmma,
  kMoved,    // mma.sync with rows and columns at other places of the fragments
  kZeros,    // mma.sync, after each step one more with B = 0
  kByChain,  // k fused multiply-adds in fp32, in ascending k
  kEqualSums
};

struct EqualParams {
  const std::uint16_t* a = nullptr;  // [tile][64][k]
  const std::uint16_t* b = nullptr;  // [tile][n][k]
  const float* start = nullptr;      // [tile][64][n]
  std::uint32_t k = 0;               // a multiple of 16
  std::uint32_t tiles = 0;
  float* sums = nullptr;  // [kEqualSums][tile][64][n]
};
rt::Status RunEqual(rt::Stream& stream, EqualVariant variant, const EqualParams& params);

// ---- The numbers --------------------------------------------------------------------------------

enum class EqualNumbers : std::uint32_t {
  kIntegers,    // small: every order gives the same sum, so that all answers must agree
  kEven,        // evenly from (-1, 1), from 0 on
  kWide,        // exponents from -30 to 30, from a start of such a kind
  kCancelling,  // products in pairs that differ by a last place and have opposite signs
  kTiny,        // products around the smallest normal number of fp32
};
inline constexpr EqualNumbers kEqualNumbers[] = {EqualNumbers::kIntegers, EqualNumbers::kEven,
                                                 EqualNumbers::kWide, EqualNumbers::kCancelling,
                                                 EqualNumbers::kTiny};
std::string_view NameOf(EqualNumbers numbers);

struct EqualTiles {
  std::uint32_t k, n, tiles;
  std::vector<std::uint16_t> a, b;
  std::vector<float> start;
};
EqualTiles MakeEqualTiles(EqualNumbers numbers, std::uint32_t k, std::uint32_t n,
                          std::uint32_t tiles, std::uint64_t seed);

// ---- The answer ---------------------------------------------------------------------------------

struct EqualCount {
  std::uint64_t dots = 0;
  std::uint64_t unequal = 0;
  std::uint64_t first = 0;      // index of the first unequal one
  double largest_relative = 0;  // of |x - y| / max(|x|, |y|), where both are finite
};
EqualCount Compare(std::span<const float> x, std::span<const float> y);
// One unequal dot product in words: bits of both sums, the start, and, up to k = 64, A and B.
std::string DescribeDot(const EqualTiles& tiles, std::uint64_t index, float x, float y);

}  // namespace cairn::gpu

#endif  // CAIRN_KERNELS_GPU_MMA_EQUAL_H_
