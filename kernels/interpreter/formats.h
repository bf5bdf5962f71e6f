#ifndef CAIRN_KERNELS_INTERPRETER_FORMATS_H_
#define CAIRN_KERNELS_INTERPRETER_FORMATS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

// Small floating-point formats by their definition (kernels/sk/number_soft.h does the same with the
// bits): a sign, an exponent of kExponent bits and a fraction of kFraction bits.

namespace cairn::interpreter {

template <int kExponent, int kFraction, bool kHasInfinity = true>
struct Format {
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr int kSign = 1 << (kExponent + kFraction);
  // The largest exponent: that of e4m3 has numbers, too.
  static constexpr int kLast = (1 << kExponent) - (kHasInfinity ? 2 : 1);

  static double Value(std::uint32_t bits) {
    const int exponent = static_cast<int>(bits >> kFraction) & ((1 << kExponent) - 1);
    const int fraction = static_cast<int>(bits) & ((1 << kFraction) - 1);
    double value = 0;
    if (exponent > kLast) {
      value = fraction != 0 ? std::nan("") : std::numeric_limits<double>::infinity();
    } else if (!kHasInfinity && exponent == kLast && fraction == (1 << kFraction) - 1) {
      value = std::nan("");
    } else if (exponent == 0) {
      value = std::ldexp(fraction, 1 - kBias - kFraction);
    } else {
      value = std::ldexp((1 << kFraction) + fraction, exponent - kBias - kFraction);
    }
    return (bits & kSign) != 0 ? -value : value;
  }

  // The nearest number, of two the even one. Beyond the largest: infinity, or, without one, the
  // largest. NaN is the PTX manual's canonical one.
  static std::uint32_t Nearest(double value) {
    if (std::isnan(value)) return kSign - 1;
    const std::uint32_t sign = std::signbit(value) ? kSign : 0;
    const double size = std::fabs(value);
    constexpr std::uint32_t kLargest =
        kHasInfinity ? (static_cast<std::uint32_t>(kLast + 1) << kFraction) - 1
                     : static_cast<std::uint32_t>(kSign) - 2;
    if (std::isinf(size)) return sign | (kLargest + (kHasInfinity ? 1 : 0));
    const int exponent = size == 0 ? 1 - kBias : std::max(std::ilogb(size), 1 - kBias);
    // In units of the last place; the leading one of a normal number counts one to its exponent.
    const double units = std::nearbyint(std::ldexp(size, kFraction - exponent));
    const double bits = units + std::ldexp(exponent + kBias - 1, kFraction);
    if (bits > kLargest) return sign | (kLargest + (kHasInfinity ? 1 : 0));
    return sign | static_cast<std::uint32_t>(bits);
  }
};

using Bf16 = Format<8, 7>;
using F16 = Format<5, 10>;
using E4m3 = Format<4, 3, false>;

}  // namespace cairn::interpreter
#endif  // CAIRN_KERNELS_INTERPRETER_FORMATS_H_
