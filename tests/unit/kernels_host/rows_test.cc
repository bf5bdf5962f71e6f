#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/unit/kernels_host/tier_test.h"

namespace cairn::host {
namespace {

using RowsTest = TierTest;

// 4 units of 2^-24 for the mean (its tree is short), plus the roundings of scale and products.
TEST_P(RowsTest, RmsNormIsNearDouble) {
  for (const std::uint32_t width : {576u, 32u, 8u, 50u, 1u}) {
    const auto x = RandomFloats(3 * width, 20, 5.0f);
    const auto weight = RandomFloats(width, 21);
    std::vector<float> out(3 * width);
    ops_->rms_norm(x.data(), weight.data(), 1e-5f, width, out.data(), 0, 3);
    for (std::uint32_t r = 0; r < 3; ++r) {
      double sum = 0;
      for (std::uint32_t i = 0; i < width; ++i)
        sum += static_cast<double>(x[r * width + i]) * x[r * width + i];
      const double scale = 1.0 / std::sqrt(sum / width + 1e-5);
      for (std::uint32_t i = 0; i < width; ++i) {
        const double expected = x[r * width + i] * scale * weight[i];
        ASSERT_NEAR(out[r * width + i], expected, std::fabs(expected) * 16 * 0x1p-24) << width;
      }
    }
  }
}

TEST_P(RowsTest, RmsNormDoesNotDependOnTheRangeAndWorksInPlace) {
  const auto x = RandomFloats(7 * 576, 22);
  const auto weight = RandomFloats(576, 23);
  std::vector<float> all(x.size()), parts(x);
  ops_->rms_norm(x.data(), weight.data(), 1e-5f, 576, all.data(), 0, 7);
  for (std::uint32_t r = 0; r < 7; ++r) {
    ops_->rms_norm(parts.data(), weight.data(), 1e-5f, 576, parts.data(), r, r + 1);
  }
  EXPECT_TRUE(SameBits(all, parts));
}

double UlpsOff(float got, double expected) {
  int exponent;
  std::frexp(expected, &exponent);
  return std::fabs(got - expected) / std::ldexp(1.0, exponent - 24);
}

TEST_P(RowsTest, ExpIsWithinItsUlps) {
  std::vector<float> x, y(4096);
  double worst = 0;
  const auto flush = [&] {
    ops_->exp(x.data(), y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      worst = std::max(worst, UlpsOff(y[i], std::exp(double{x[i]})));
    x.clear();
  };
  for (const std::uint32_t sign : {0u, 0x80000000u}) {
    for (std::uint32_t bits = 0x2f000000; bits < 0x42b20000; bits += 97) {  // up to 89
      const float value = FloatOf(bits | sign);
      if (value > 88.37f || value < -87.33f) break;
      x.push_back(value);
      if (x.size() == y.size()) flush();
    }
  }
  flush();
  RecordProperty("worst_ulps", std::to_string(worst));
  std::printf("exp, tier %s: worst %.3f ulp\n", ops_->name, worst);
  EXPECT_LE(worst, fused() ? 1.0 : 1.5);
}

TEST_P(RowsTest, ExpAtTheEdges) {
  const float inf = INFINITY;
  const std::vector<float> x = {0.0f, -0.0f, -inf, -87.4f, -1000.0f, 89.0f, inf, NAN, -87.33f};
  std::vector<float> y(x.size());
  ops_->exp(x.data(), y.data(), x.size());
  EXPECT_EQ(y[0], 1.0f);
  EXPECT_EQ(y[1], 1.0f);
  EXPECT_EQ(y[2], 0.0f);
  EXPECT_EQ(y[3], 0.0f);
  EXPECT_EQ(y[4], 0.0f);
  EXPECT_GT(y[5], 2.3e38f);
  EXPECT_TRUE(std::isfinite(y[6]));
  EXPECT_TRUE(std::isnan(y[7]));
  EXPECT_GT(y[8], 0.0f);
}

TEST_P(RowsTest, SwigluIsNearDouble) {
  auto gate = RandomFloats(1003, 24, 8.0f);
  gate[0] = 0.0f, gate[1] = -200.0f, gate[2] = 200.0f, gate[3] = -87.0f, gate[4] = -1e30f;
  const auto up = RandomFloats(1003, 25);
  std::vector<float> out(1003);
  ops_->swiglu(gate.data(), up.data(), out.data(), out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double expected = gate[i] / (1.0 + std::exp(-static_cast<double>(gate[i]))) * up[i];
    // Below -88 the true value vanishes: only its size counts.
    ASSERT_NEAR(out[i], expected, std::fabs(expected) * 8 * 0x1p-24 + (gate[i] < -86 ? 1e-7 : 0))
        << gate[i];
  }
}

TEST_P(RowsTest, ElementsDoNotDependOnTheRange) {
  const auto gate = RandomFloats(100, 26, 4.0f), up = RandomFloats(100, 27);
  std::vector<float> all(100), parts(100), sum(up), part_sums(up), exps(100), part_exps(100);
  ops_->swiglu(gate.data(), up.data(), all.data(), 100);
  ops_->add(sum.data(), gate.data(), 100);
  ops_->exp(gate.data(), exps.data(), 100);
  for (std::size_t i = 0, step = 1; i < 100; i += step, step = step % 11 + 1) {
    const std::size_t count = std::min<std::size_t>(step, 100 - i);
    ops_->swiglu(gate.data() + i, up.data() + i, parts.data() + i, count);
    ops_->add(part_sums.data() + i, gate.data() + i, count);
    ops_->exp(gate.data() + i, part_exps.data() + i, count);
  }
  EXPECT_TRUE(SameBits(all, parts));
  EXPECT_TRUE(SameBits(sum, part_sums));
  EXPECT_TRUE(SameBits(exps, part_exps));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(sum[i], up[i] + gate[i]);
}

TEST_P(RowsTest, ArgmaxTakesTheLowestOfEqualsAndNoNan) {
  const auto argmax = [this](std::vector<float> x) {
    return ops_->argmax(x.data(), static_cast<std::uint32_t>(x.size()));
  };
  EXPECT_EQ(argmax({1, 5, 5, 2}), 1u);
  EXPECT_EQ(argmax({-3}), 0u);
  EXPECT_EQ(argmax({NAN, -7, NAN, -6, -6}), 3u);
  EXPECT_EQ(argmax({-INFINITY, NAN}), 0u);
  EXPECT_EQ(argmax({0.0f, -0.0f}), 0u);
  auto many = RandomFloats(49152, 28);
  many[49151] = 100;
  EXPECT_EQ(argmax(many), 49151u);
}

TEST_P(RowsTest, StoreKvRoundsToNearestEvenIntoItsSlotOnly) {
  const KvShape shape{
      .layers = 2, .kv_heads = 3, .head_dim = 16, .block_tokens = 16, .dtype = KvDtype::kBf16};
  std::vector<std::byte> block(KvBlockBytes(shape), std::byte{0xaa});
  auto k = RandomFloats(48, 29), v = RandomFloats(48, 30);
  k[0] = FloatOf(0x3f808000), k[1] = FloatOf(0x3f818000),
  k[2] = FloatOf(0x3f808001);  // two ties, one above
  k[3] = FloatOf(0x7fffffff), k[4] = INFINITY, k[5] = -0.0f, k[6] = FloatOf(0x7f7fffff);
  ops_->store_kv({&shape, 1, 5, block.data(), k.data(), v.data()});
  std::size_t changed = 0;
  for (const std::byte b : block) changed += b != std::byte{0xaa};
  EXPECT_LE(changed, 2u * 48 * 2);
  for (std::uint32_t part = 0; part < 2; ++part) {
    for (std::uint32_t h = 0; h < 3; ++h) {
      for (std::uint32_t d = 0; d < 16; ++d) {
        std::uint16_t stored;
        std::memcpy(&stored, block.data() + KvHeadOffset(shape, 1, part, h) + (5 * 16 + d) * 2, 2);
        const float value = FloatOf(static_cast<std::uint32_t>(stored) << 16);
        const float expected = RoundedToBf16((part == 0 ? k : v)[h * 16 + d]);
        if (expected != expected) {
          EXPECT_TRUE(std::isnan(value));
        } else {
          EXPECT_EQ(BitsOf(value), BitsOf(expected)) << part << " " << h << " " << d;
        }
      }
    }
  }
}

TEST_P(RowsTest, StoreKvKeepsFloatsAsTheyAre) {
  const KvShape shape{
      .layers = 1, .kv_heads = 2, .head_dim = 32, .block_tokens = 16, .dtype = KvDtype::kF32};
  std::vector<std::byte> block(KvBlockBytes(shape));
  const auto k = RandomFloats(64, 31), v = RandomFloats(64, 32);
  ops_->store_kv({&shape, 0, 15, block.data(), k.data(), v.data()});
  for (std::uint32_t h = 0; h < 2; ++h) {
    EXPECT_EQ(0,
              std::memcmp(block.data() + KvHeadOffset(shape, 0, 0, h) + 15 * 128, &k[h * 32], 128));
    EXPECT_EQ(0,
              std::memcmp(block.data() + KvHeadOffset(shape, 0, 1, h) + 15 * 128, &v[h * 32], 128));
  }
}

CAIRN_FOR_EVERY_TIER(RowsTest);

}  // namespace
}  // namespace cairn::host
