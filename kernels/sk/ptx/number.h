#ifndef CAIRN_KERNELS_SK_PTX_NUMBER_H_
#define CAIRN_KERNELS_SK_PTX_NUMBER_H_

#include "kernels/sk/number.h"

namespace cairn::sk {

SK_DEVICE std::uint32_t PackBf16(float low, float high) {
  std::uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
SK_DEVICE float LowBf16(std::uint32_t pair) { return __uint_as_float(pair << 16); }
SK_DEVICE float HighBf16(std::uint32_t pair) { return __uint_as_float(pair & 0xffff0000u); }

SK_DEVICE std::uint32_t PackF16(float low, float high) {
  std::uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
SK_DEVICE float LowF16(std::uint32_t pair) {
  float value;
  asm("{\n.reg .f16 l, h;\nmov.b32 {l, h}, %1;\ncvt.f32.f16 %0, l;\n}" : "=f"(value) : "r"(pair));
  return value;
}
SK_DEVICE float HighF16(std::uint32_t pair) {
  float value;
  asm("{\n.reg .f16 l, h;\nmov.b32 {l, h}, %1;\ncvt.f32.f16 %0, h;\n}" : "=f"(value) : "r"(pair));
  return value;
}

SK_DEVICE std::uint16_t PackE4m3(float low, float high) {
  std::uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}
SK_DEVICE std::uint32_t E4m3ToF16(std::uint16_t pair) {
  std::uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
  return halves;
}

SK_DEVICE float Ex2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
SK_DEVICE float Rcp(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
SK_DEVICE float Fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
SK_DEVICE float Max(float a, float b) { return fmaxf(a, b); }
SK_DEVICE std::uint64_t MultiplyHigh(std::uint64_t a, std::uint64_t b) { return __umul64hi(a, b); }

}  // namespace cairn::sk

#endif  // CAIRN_KERNELS_SK_PTX_NUMBER_H_
