#include "kernels/host/rope_table.h"

#include <algorithm>
#include <cmath>

#include "tests/unit/kernels_host/tier_test.h"

namespace cairn::host {
namespace {

RopeTable::Options Smol() { return {.rotary_dim = 64, .max_positions = 2048, .theta = 100000.0}; }

// Reference: long double libm. 0.5 ulp of float is the rounding itself; the rest is below 2^-27 of
// that.
TEST(RopeTableTest, ValuesAreRoundedOnce) {
  for (const double theta : {10000.0, 100000.0, 1e6}) {
    RopeTable::Options options = Smol();
    options.theta = theta;
    const RopeTable table(options);
    const RopeView& view = table.view();
    double worst = 0;
    for (std::uint32_t j = 0; j < 32; ++j) {
      const long double frequency = std::pow(static_cast<long double>(theta), -2.0L * j / 64);
      for (std::uint32_t p = 0; p < 2048; ++p) {
        const long double angle = p * frequency;
        for (const bool is_sin : {false, true}) {
          const long double exact = is_sin ? std::sin(angle) : std::cos(angle);
          const float got = RopeCos(view, j, p)[is_sin ? kRopeRunFloats : 0];
          int exponent;
          std::frexp(static_cast<double>(exact), &exponent);
          const long double ulp = std::ldexp(1.0L, exponent - 24);
          if (std::fabs(exact) > 1e-6L)
            worst = std::max(worst, static_cast<double>(std::fabs(got - exact) / ulp));
        }
      }
    }
    EXPECT_LE(worst, 0.5001) << theta;
  }
}

// The hash of the table that 160-bit arithmetic gives (mpmath, rounded to float): every entry is
// the correctly rounded one.
TEST(RopeTableTest, HashIsThatOfEveryMachine) {
  EXPECT_EQ(RopeTable(Smol()).hash(), 0xd381c912dac2447eu);
}

TEST(RopeTableTest, HashSeesEveryOption) {
  std::vector<std::uint64_t> hashes = {RopeTable(Smol()).hash()};
  RopeTable::Options o = Smol();
  o.theta = 10000;
  hashes.push_back(RopeTable(o).hash());
  o = Smol(), o.layout = RotaryLayout::kHalfSplit;
  hashes.push_back(RopeTable(o).hash());
  o = Smol(), o.linear_scale = 2;
  hashes.push_back(RopeTable(o).hash());
  o = Smol(), o.rotary_dim = 32;
  hashes.push_back(RopeTable(o).hash());
  std::vector<float> divisors(32, 1.0f);
  divisors[31] = 8.0f;
  o = Smol(), o.frequency_divisors = divisors.data();
  hashes.push_back(RopeTable(o).hash());
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(hashes[i], hashes[j]) << i << " " << j;
  }
}

TEST(RopeTableTest, LinearScaleStretchesPositions) {
  RopeTable::Options scaled = Smol();
  scaled.linear_scale = 4;
  const RopeTable table(scaled), plain(Smol());
  for (std::uint32_t j = 0; j < 32; ++j) {
    for (std::uint32_t p = 0; p < 500; ++p) {
      ASSERT_EQ(*RopeCos(table.view(), j, 4 * p), *RopeCos(plain.view(), j, p));
    }
  }
}

TEST(RopeTableTest, SixteenPositionsFromAnywhereAreContiguous) {
  RopeTable::Options options = Smol();
  options.max_positions = 200;
  const RopeTable table(options);
  for (std::uint32_t j = 0; j < 32; ++j) {
    for (std::uint32_t p = 0; p < 200; ++p) {
      for (std::uint32_t i = 0; i < 16; ++i) {
        for (const std::uint32_t part : {0u, kRopeRunFloats}) {
          const float expected = p + i < 200 ? RopeCos(table.view(), j, p + i)[part] : 0.0f;
          ASSERT_EQ(RopeCos(table.view(), j, p)[part + i], expected) << j << " " << p << " " << i;
        }
      }
    }
  }
}

TEST(RopeTableTest, RefusesWhatItCannotBuild) {
  EXPECT_TRUE(RopeTable::Valid(Smol()));
  RopeTable::Options o = Smol();
  o.rotary_dim = 63;
  EXPECT_FALSE(RopeTable::Valid(o));
  o = Smol(), o.rotary_dim = 0;
  EXPECT_FALSE(RopeTable::Valid(o));
  o = Smol(), o.max_positions = 0;
  EXPECT_FALSE(RopeTable::Valid(o));
  o = Smol(), o.max_positions = 1u << 30;
  EXPECT_FALSE(RopeTable::Valid(o));
  o = Smol(), o.theta = std::nan("");
  EXPECT_FALSE(RopeTable::Valid(o));
  o = Smol(), o.theta = 0.5;
  EXPECT_FALSE(RopeTable::Valid(o));
  const std::vector<float> zeros(32, 0.0f);
  o = Smol(), o.frequency_divisors = zeros.data();
  EXPECT_FALSE(RopeTable::Valid(o));
}

using RotateTest = TierTest;

// One product and one fused step: 2^-23 of |(a, b)|.
TEST_P(RotateTest, IsNearDouble) {
  for (const RotaryLayout layout : {RotaryLayout::kAdjacent, RotaryLayout::kHalfSplit}) {
    for (const std::uint32_t rotary : {64u, 32u, 6u}) {
      RopeTable::Options options = Smol();
      options.rotary_dim = rotary, options.layout = layout;
      const RopeTable table(options);
      const auto x = RandomFloats(64, 40);
      for (const std::uint32_t position : {0u, 1u, 777u, 2047u}) {
        std::vector<float> exact(64);
        ops_->rotate(table.view(), position, x.data(), 64, exact.data());
        for (std::uint32_t d = rotary; d < 64; ++d) ASSERT_EQ(exact[d], x[d]);
        for (std::uint32_t j = 0; j < rotary / 2; ++j) {
          const std::uint32_t a = layout == RotaryLayout::kAdjacent ? 2 * j : j;
          const std::uint32_t b = layout == RotaryLayout::kAdjacent ? 2 * j + 1 : j + rotary / 2;
          const long double angle = position * std::pow(100000.0L, -2.0L * j / rotary);
          const double size = std::hypot(x[a], x[b]) * 3 * 0x1p-24;
          ASSERT_NEAR(exact[a], x[a] * std::cos(angle) - x[b] * std::sin(angle), size);
          ASSERT_NEAR(exact[b], x[b] * std::cos(angle) + x[a] * std::sin(angle), size);
        }
      }
    }
  }
}

CAIRN_FOR_EVERY_TIER(RotateTest);

}  // namespace
}  // namespace cairn::host
