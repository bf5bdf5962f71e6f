#include "kernels/sk/number.h"

#include <cmath>
#include <limits>

#include "kernels/sk/emu/random.h"
#include "kernels/test/harness.h"

namespace cairn::test {
namespace {

using sk::soft::Bits;
using sk::soft::FromBits;

// The nearest value of a small format, by looking at all of them: ties go to the even code.
template <class FromCode>
std::uint32_t NearestCode(double x, std::uint32_t first, std::uint32_t last, FromCode from_code) {
  std::uint32_t best = first;
  for (std::uint32_t code = first; code <= last; ++code) {
    const double distance = std::fabs(x - from_code(code));
    const double best_distance = std::fabs(x - from_code(best));
    if (distance < best_distance || (distance == best_distance && code % 2 == 0)) best = code;
  }
  return best;
}

SK_TEST(EveryBf16AndF16AndE4m3SurvivesARoundTrip) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const bool is_bf16_nan = (code & 0x7fff) > 0x7f80, is_f16_nan = (code & 0x7fff) > 0x7c00;
    const std::uint32_t bf16 = sk::soft::RoundBf16(sk::soft::FromBf16(code));
    const std::uint32_t f16 = sk::soft::RoundF16(sk::soft::FromF16(code));
    SK_EXPECT_EQ(bf16, is_bf16_nan ? 0x7fffu : code);
    SK_EXPECT_EQ(f16, is_f16_nan ? 0x7fffu : code);
  }
  for (std::uint32_t code = 0; code < 0x100; ++code) {
    const std::uint32_t rounded = sk::soft::RoundE4m3(sk::soft::FromE4m3(code));
    SK_EXPECT_EQ(rounded, (code & 0x7f) == 0x7f ? 0x7fu : code);
  }
}

SK_TEST(E4m3RoundsToTheNearestTiesToEven) {
  sk::emu::Random random(RunSettings().first_seed);
  for (int i = 0; i < 20000; ++i) {
    // Exponents around the whole range; every eighth value a tie between two neighbours.
    const std::uint32_t code = random.Below(0x7e);
    float x = sk::soft::FromE4m3(code);
    const float next = sk::soft::FromE4m3(code + 1);
    x = i % 8 == 0 ? (x + next) / 2
                   : x + (next - x) * static_cast<float>(random.Below(1 << 16)) * 0x1p-16f;
    const std::uint32_t expected = NearestCode(x, 0, 0x7e, sk::soft::FromE4m3);
    SK_EXPECT_EQ(static_cast<std::uint32_t>(sk::soft::RoundE4m3(x)), expected);
    SK_EXPECT_EQ(static_cast<std::uint32_t>(sk::soft::RoundE4m3(-x)), expected | 0x80);
  }
}

SK_TEST(F16RoundsTiesToEvenAlsoBelowItsNormalRange) {
  for (std::uint32_t code = 0; code < 0x7bff; ++code) {
    const float low = sk::soft::FromF16(code), high = sk::soft::FromF16(code + 1);
    const float tie = low / 2 + high / 2;  // exact: 12 bits of mantissa
    const float above = std::nextafterf(tie, high), below = std::nextafterf(tie, low);
    SK_EXPECT_EQ(static_cast<std::uint32_t>(sk::soft::RoundF16(tie)), code + code % 2);
    SK_EXPECT_EQ(static_cast<std::uint32_t>(sk::soft::RoundF16(above)), code + 1);
    SK_EXPECT_EQ(static_cast<std::uint32_t>(sk::soft::RoundF16(below)), code);
  }
}

SK_TEST(TheEndsOfTheFormatsAreTheHardwares) {
  const float inf = std::numeric_limits<float>::infinity();
  SK_EXPECT_EQ(sk::soft::RoundBf16(3.4e38f), 0x7f80);  // rounds up to infinity
  SK_EXPECT_EQ(sk::soft::RoundBf16(-inf), 0xff80);
  SK_EXPECT_EQ(sk::soft::RoundBf16(1.00390625f), 0x3f80);  // a tie: down to even
  SK_EXPECT_EQ(sk::soft::RoundBf16(1.01171875f), 0x3f82);  // a tie: up to even
  SK_EXPECT_EQ(sk::soft::RoundF16(65519.0f), 0x7bff);
  SK_EXPECT_EQ(sk::soft::RoundF16(65520.0f), 0x7c00);
  SK_EXPECT_EQ(sk::soft::RoundF16(-inf), 0xfc00);
  SK_EXPECT_EQ(sk::soft::RoundF16(0x1p-25f), 0x0000);
  SK_EXPECT_EQ(sk::soft::RoundF16(0x1.8p-25f), 0x0001);
  SK_EXPECT_EQ(int{sk::soft::RoundE4m3(inf)}, 0x7e);  // satfinite
  SK_EXPECT_EQ(int{sk::soft::RoundE4m3(-1000.0f)}, 0xfe);
  SK_EXPECT_EQ(int{sk::soft::RoundE4m3(std::nanf(""))}, 0x7f);
  SK_EXPECT_EQ(Bits(-0.0f), 0x80000000u);
  SK_EXPECT_EQ(sk::soft::RoundBf16(-0.0f), 0x8000);
}

SK_TEST(PairsKeepTheFirstValueBelow) {
  SK_EXPECT_EQ(sk::PackBf16(1.0f, 2.0f), 0x40003f80u);
  SK_EXPECT_EQ(sk::LowBf16(0x40003f80u), 1.0f);
  SK_EXPECT_EQ(sk::HighBf16(0x40003f80u), 2.0f);
  SK_EXPECT_EQ(sk::PackF16(1.0f, 2.0f), 0x40003c00u);
  SK_EXPECT_EQ(sk::HighF16(0x40003c00u), 2.0f);
  SK_EXPECT_EQ(sk::PackE4m3(1.0f, -2.0f), 0xc038);
  SK_EXPECT_EQ(sk::E4m3ToF16(0xc038), 0xc0003c00u);
}

SK_TEST(Ex2IsWithinAnUlpAndExactAtIntegers) {
  for (int i = -126; i < 128; ++i)
    SK_EXPECT_EQ(sk::Ex2(static_cast<float>(i)), std::ldexp(1.0f, i));
  for (std::uint32_t i = 0; i < 100000; ++i) {
    const float x = -126.0f + static_cast<float>(i) * 0.00253f;
    const double exact = std::exp2(static_cast<double>(x));
    SK_EXPECT(std::fabs(sk::Ex2(x) - exact) <= exact * 0x1p-23);
  }
  const float inf = std::numeric_limits<float>::infinity();
  SK_EXPECT_EQ(sk::Ex2(-inf), 0.0f);
  SK_EXPECT_EQ(sk::Ex2(-127.0f), 0.0f);  // flushed
  SK_EXPECT_EQ(sk::Ex2(inf), inf);
  SK_EXPECT(std::isnan(sk::Ex2(std::nanf(""))));
  SK_EXPECT_EQ(sk::Rcp(FromBits(1)), inf);  // a subnormal is 0
  SK_EXPECT_EQ(sk::Rcp(-4.0f), -0.25f);
  SK_EXPECT_EQ(sk::Max(-4.0f, -5.0f), -4.0f);
  SK_EXPECT_EQ(sk::Max(1.0f, inf), inf);
  SK_EXPECT_EQ(Bits(sk::Max(-0.0f, 0.0f)), 0u);
  SK_EXPECT_EQ(Bits(sk::Max(0.0f, -0.0f)), 0u);
  SK_EXPECT_EQ(sk::Max(FromBits(0x7fffffff), -1.0f), -1.0f);
  SK_EXPECT_EQ(sk::Max(-1.0f, FromBits(0x7fffffff)), -1.0f);
}

}  // namespace
}  // namespace cairn::test
