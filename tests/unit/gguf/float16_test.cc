#include "libs/gguf/float16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace cairn {
namespace {

std::uint32_t Bits(float value) { return std::bit_cast<std::uint32_t>(value); }

// The definition of binary16, in double arithmetic.
double HalfByDefinition(std::uint16_t half) {
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  const int exponent = (half >> 10) & 31;
  const int fraction = half & 1023;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Float16Test, EveryFiniteHalfWidensExactlyAndComesBack) {
  for (std::uint32_t raw = 0; raw <= 0xFFFF; ++raw) {
    const std::uint16_t half = static_cast<std::uint16_t>(raw);
    if (((half >> 10) & 31) == 31) continue;
    const float value = HalfToFloat(half);
    ASSERT_EQ(static_cast<double>(value), HalfByDefinition(half)) << raw;
    ASSERT_EQ(std::signbit(value), (half & 0x8000) != 0) << raw;
    ASSERT_EQ(FloatToHalf(value), half) << raw;
  }
}

TEST(Float16Test, InfinityAndNanKeepTheirKind) {
  EXPECT_EQ(Bits(HalfToFloat(0x7C00)), 0x7F800000u);
  EXPECT_EQ(Bits(HalfToFloat(0xFC00)), 0xFF800000u);
  EXPECT_TRUE(std::isnan(HalfToFloat(0x7C01)));
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::infinity()), 0x7C00);
  EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(std::bit_cast<float>(0x7F800001u)))));
  EXPECT_TRUE(std::isnan(Bfloat16ToFloat(FloatToBfloat16(std::bit_cast<float>(0x7F800001u)))));
}

TEST(Float16Test, NarrowingToHalfRoundsToNearestEven) {
  // Between each two neighbours: just below the middle, the middle, just above it.
  for (std::uint16_t half = 0; half < 0x7BFF; ++half) {
    const float low = HalfToFloat(half);
    const float middle = (low + HalfToFloat(half + 1)) / 2;  // exact
    const std::uint16_t even = half % 2 == 0 ? half : half + 1;
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 0.0f)), half);
    ASSERT_EQ(FloatToHalf(middle), even);
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 1e9f)), half + 1);
    ASSERT_EQ(FloatToHalf(-middle), even | 0x8000);
  }
  EXPECT_EQ(FloatToHalf(65519.996f), 0x7BFF);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7C00);
  EXPECT_EQ(FloatToHalf(1e30f), 0x7C00);
  EXPECT_EQ(FloatToHalf(1e-30f), 0);
}

TEST(Float16Test, NarrowingToBfloat16RoundsToNearestEven) {
  EXPECT_EQ(FloatToBfloat16(1.0f), 0x3F80);
  EXPECT_EQ(FloatToBfloat16(std::bit_cast<float>(0x3F808000u)), 0x3F80);  // tie, down to even
  EXPECT_EQ(FloatToBfloat16(std::bit_cast<float>(0x3F818000u)), 0x3F82);  // tie, up to even
  EXPECT_EQ(FloatToBfloat16(std::bit_cast<float>(0x3F808001u)), 0x3F81);
  EXPECT_EQ(FloatToBfloat16(std::bit_cast<float>(0x7F7FFFFFu)), 0x7F80);  // to infinity
  EXPECT_EQ(FloatToBfloat16(-0.0f), 0x8000);
  EXPECT_EQ(Bits(Bfloat16ToFloat(0xBF80)), Bits(-1.0f));
}

}  // namespace
}  // namespace cairn
