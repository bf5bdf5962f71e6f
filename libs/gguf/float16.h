#ifndef CAIRN_LIBS_GGUF_FLOAT16_H_
#define CAIRN_LIBS_GGUF_FLOAT16_H_

#include <bit>
#include <cstdint>

// Half (IEEE binary16) and bfloat16, written plainly: the same bits on every machine. Widening is
// exact; narrowing rounds to nearest, ties to even. A NaN stays a NaN (and becomes quiet when
// narrowed).
namespace cairn {

inline float HalfToFloat(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  if (fraction == 0) return std::bit_cast<float>(sign);
  // Subnormal: fraction * 2^-24, which is a normal float.
  const int shift = std::countl_zero(fraction) - 21;
  fraction = (fraction << shift) & 0x3ffu;
  return std::bit_cast<float>(sign | (static_cast<std::uint32_t>(113 - shift) << 23) |
                              (fraction << 13));
}

inline std::uint16_t FloatToHalf(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // 65520 and more round to infinity
  if (magnitude < 0x38800000u) {                        // below 2^-14: subnormal or zero
    const std::uint32_t exponent = magnitude >> 23;
    if (exponent < 102) return sign;  // below 2^-25
    const std::uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t shift = 126 - exponent;
    const std::uint32_t half_way = 1u << (shift - 1);
    const std::uint32_t odd = (fraction >> shift) & 1u;
    return static_cast<std::uint16_t>(sign | ((fraction + half_way - 1 + odd) >> shift));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - (112u << 23) + 0xfffu + odd) >> 13));
}

inline float Bfloat16ToFloat(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

inline std::uint16_t FloatToBfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace cairn
#endif  // CAIRN_LIBS_GGUF_FLOAT16_H_
