#ifndef CAIRN_KERNELS_SK_NUMBER_SOFT_H_
#define CAIRN_KERNELS_SK_NUMBER_SOFT_H_

#include <cstdint>
#include <cstring>

// bf16, f16, e4m3 and 2^x in plain C++, for host code: the emulator, references and tests. Every
// result is the same on every processor: integer operations and exactly rounded ones only.

namespace cairn::sk::soft {

inline std::uint32_t Bits(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float FromBits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
inline bool IsNan(float x) { return (Bits(x) & 0x7fffffff) > 0x7f800000; }
inline float FlushSubnormal(float x) {
  return (Bits(x) & 0x7f800000) == 0 ? FromBits(Bits(x) & 0x80000000) : x;
}

// The integer nearest to value / 2^shift, ties to even; shift from 1 to 31.
inline std::uint32_t ShiftRounded(std::uint32_t value, int shift) {
  const std::uint32_t kept = value >> shift;
  const std::uint32_t rest = value & ((1u << shift) - 1), half = 1u << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1) != 0));
}

inline std::uint16_t RoundBf16(float x) {
  if (IsNan(x)) return 0x7fff;
  return static_cast<std::uint16_t>(ShiftRounded(Bits(x), 16));  // a carry ends in infinity
}
inline float FromBf16(std::uint32_t bits) { return FromBits(bits << 16); }

// A format of `kMantissa` mantissa bits with exponent bias `kBias`, sign left out: the bits that x
// >= 0 rounds to, as if the exponent had no upper end.
template <int kMantissa, int kBias>
std::uint32_t RoundSmall(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 23) - 127;
  const std::uint32_t mantissa = (bits & 0x7fffff) | 0x800000;
  constexpr int kShift = 23 - kMantissa;
  if (exponent < 1 - kBias) {  // subnormal there: the last place is 2^(1 - kBias - kMantissa)
    const int shift = kShift + (1 - kBias - exponent);
    return shift > 24 ? 0 : ShiftRounded(mantissa, shift);
  }
  return (static_cast<std::uint32_t>(exponent + kBias - 1) << kMantissa) +
         ShiftRounded(mantissa, kShift);  // the leading one adds 1 to the exponent
}

inline std::uint16_t RoundF16(float x) {
  if (IsNan(x)) return 0x7fff;
  const std::uint32_t bits = Bits(x), sign = bits >> 16 & 0x8000;
  if ((bits & 0x7fffffff) >= 0x47800000) return static_cast<std::uint16_t>(sign | 0x7c00);  // 2^16
  return static_cast<std::uint16_t>(sign | RoundSmall<10, 15>(bits & 0x7fffffff));
}
inline float FromF16(std::uint32_t bits) {
  const std::uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31;
  const std::uint32_t mantissa = bits & 0x3ff;
  if (exponent == 31) return FromBits(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0) return FromBits(sign | (exponent + 112) << 23 | mantissa << 13);
  return FromBits(sign | Bits(static_cast<float>(mantissa) * 0x1p-24f));
}

inline std::uint8_t RoundE4m3(float x) {
  if (IsNan(x)) return 0x7f;
  const std::uint32_t sign = Bits(x) >> 24 & 0x80, magnitude = Bits(x) & 0x7fffffff;
  if (magnitude >= 0x43e00000) return static_cast<std::uint8_t>(sign | 0x7e);  // 448
  return static_cast<std::uint8_t>(sign | RoundSmall<3, 7>(magnitude));
}
inline float FromE4m3(std::uint32_t bits) {
  const std::uint32_t sign = (bits & 0x80) << 24, exponent = bits >> 3 & 15, mantissa = bits & 7;
  if ((bits & 0x7f) == 0x7f) return FromBits(sign | 0x7fffffff);
  if (exponent != 0) return FromBits(sign | (exponent + 120) << 23 | mantissa << 20);
  return FromBits(sign | Bits(static_cast<float>(mantissa) * 0x1p-9f));
}

// 2^x in double by its series around the nearest integer, then one rounding: at most 0.51 ulp off.
inline float Exp2(float x) {
  if (IsNan(x)) return FromBits(0x7fffffff);
  if (x >= 128.0f) return FromBits(0x7f800000);
  if (x < -126.0f) return 0.0f;
  const int whole = static_cast<int>(x < 0 ? x - 0.5f : x + 0.5f);
  const double y = (static_cast<double>(x) - whole) * 0.693147180559945309417232121458;
  double sum = 1.0;
  for (int i = 13; i >= 1; --i) sum = 1.0 + y / i * sum;
  std::uint64_t power = static_cast<std::uint64_t>(whole + 1023) << 52;
  double scale;
  std::memcpy(&scale, &power, sizeof scale);
  return static_cast<float>(sum * scale);
}

}  // namespace cairn::sk::soft

#endif  // CAIRN_KERNELS_SK_NUMBER_SOFT_H_
