#ifndef CAIRN_KERNELS_SK_NUMBER_H_
#define CAIRN_KERNELS_SK_NUMBER_H_

#include <cstring>

#include "kernels/sk/number_soft.h"
#include "kernels/sk/target.h"

// Number formats of kernels and the conversions that the hardware has. Pairs are packed with the
// first value in the lower half. Roundings are to nearest, ties to even; bits are the hardware's in
// the emulator too, but for Ex2 and Rcp, which a GPU approximates (2 ulp, 1 ulp) and the emulator
// rounds correctly or nearly so.

namespace cairn::sk {

SK_OP std::uint32_t PackBf16(float low, float high);  // cvt.rn.bf16x2.f32; NaN becomes 0x7fff
SK_OP float LowBf16(std::uint32_t pair);
SK_OP float HighBf16(std::uint32_t pair);

SK_OP std::uint32_t PackF16(float low, float high);  // cvt.rn.f16x2.f32; overflow becomes inf
SK_OP float LowF16(std::uint32_t pair);
SK_OP float HighF16(std::uint32_t pair);

// e4m3: no infinity, NaN is 0x7f; values beyond 448 become 448 (satfinite).
SK_OP std::uint16_t PackE4m3(float low, float high);
SK_OP std::uint32_t E4m3ToF16(std::uint16_t pair);  // exact

SK_OP float Ex2(float x);  // 2^x, ex2.approx.ftz: subnormal results are 0
SK_OP float Rcp(float x);  // 1/x, rcp.approx.ftz
// One rounding. Written out wherever a fused product is meant: nothing is contracted silently
// (-ffp-contract=off, -fmad=false).
SK_OP float Fma(float a, float b, float c);

// The larger one; +0 is larger than -0, and any number than a NaN (max.f32).
SK_OP float Max(float a, float b);

// The upper 64 bits of the product.
SK_OP std::uint64_t MultiplyHigh(std::uint64_t a, std::uint64_t b);

}  // namespace cairn::sk

#ifdef SK_TARGET_GPU
#include "kernels/sk/ptx/number.h"
#else
namespace cairn::sk {
inline std::uint32_t PackBf16(float low, float high) {
  return soft::RoundBf16(low) | static_cast<std::uint32_t>(soft::RoundBf16(high)) << 16;
}
inline float LowBf16(std::uint32_t pair) { return soft::FromBf16(pair & 0xffff); }
inline float HighBf16(std::uint32_t pair) { return soft::FromBf16(pair >> 16); }
inline std::uint32_t PackF16(float low, float high) {
  return soft::RoundF16(low) | static_cast<std::uint32_t>(soft::RoundF16(high)) << 16;
}
inline float LowF16(std::uint32_t pair) { return soft::FromF16(pair & 0xffff); }
inline float HighF16(std::uint32_t pair) { return soft::FromF16(pair >> 16); }
inline std::uint16_t PackE4m3(float low, float high) {
  return static_cast<std::uint16_t>(soft::RoundE4m3(low) | soft::RoundE4m3(high) << 8);
}
inline std::uint32_t E4m3ToF16(std::uint16_t pair) {
  return PackF16(soft::FromE4m3(pair & 0xff), soft::FromE4m3(pair >> 8));
}
inline float Ex2(float x) { return soft::Exp2(x); }
inline float Rcp(float x) { return soft::FlushSubnormal(1.0f / soft::FlushSubnormal(x)); }
inline float Fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float Max(float a, float b) {
  if (soft::IsNan(a)) return b;
  if (a == b) return soft::FromBits(soft::Bits(a) & soft::Bits(b));
  return a > b || soft::IsNan(b) ? a : b;
}
inline std::uint64_t MultiplyHigh(std::uint64_t a, std::uint64_t b) {
  __extension__ using Product = unsigned __int128;
  return static_cast<std::uint64_t>(Product{a} * b >> 64);
}
}  // namespace cairn::sk
#endif

#endif  // CAIRN_KERNELS_SK_NUMBER_H_
