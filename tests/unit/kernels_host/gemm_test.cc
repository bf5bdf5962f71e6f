#include <algorithm>
#include <cmath>

#include "tests/unit/kernels_host/tier_test.h"

namespace cairn::host {
namespace {

class GemmTest : public TierTest {
 protected:
  std::vector<float> Multiply(const PackedMatrix& w, const std::vector<float>& x,
                              std::uint32_t rows, std::size_t panel_step = 1u << 30) {
    std::vector<float> y(static_cast<std::size_t>(rows) * w.n, std::nanf(""));
    const GemmCall call{&w, x.data(), w.k, rows, y.data(), w.n};
    for (std::size_t p = 0; p < PanelCount(w.n); p += panel_step) {
      ops_->gemm(call, p, std::min(p + panel_step, PanelCount(w.n)));
    }
    return y;
  }
};

struct Shape {
  std::uint32_t n, k;
};

// (n, k): whole and ragged panels; one and several cuts of k; a tail of k in the unquantised types.
std::vector<Shape> Shapes(WeightType type) {
  if (IsQuantised(type)) return {{16, 32}, {48, 576}, {23, 64}, {40, 1536}};
  return {{16, 32}, {48, 576}, {23, 1}, {5, 75}, {40, 801}};
}

TEST_P(GemmTest, IsTheDefinedChainBitForBit) {
  for (const WeightType type : kAllTypes) {
    for (const Shape shape : Shapes(type)) {
      const TestMatrix m = RandomMatrix(type, shape.n, shape.k, 4);
      const Packed packed = Pack(m.source);
      const std::uint32_t rows = 9;
      const auto x = RandomFloats(rows * shape.k, 5);
      const auto y = Multiply(packed.matrix, x, rows);
      std::vector<float> w(shape.k);
      for (std::uint32_t c = 0; c < shape.n; ++c) {
        DequantiseRow(m.source, c, w.data());
        for (std::uint32_t r = 0; r < rows; ++r) {
          float sum = 0.0f;
          for (std::uint32_t i = 0; i < shape.k; ++i) {
            const float xi = x[r * shape.k + i];
            sum = fused() ? std::fma(xi, w[i], sum) : sum + xi * w[i];
          }
          ASSERT_EQ(BitsOf(y[r * shape.n + c]), BitsOf(sum))
              << int(type) << " " << shape.n << "x" << shape.k;
        }
      }
    }
  }
}

// |error| <= (k + 1) 2^-24 sum |x w| for a chain of k fused steps, twice that without.
TEST_P(GemmTest, IsNearTheDoubleProduct) {
  for (const WeightType type : kAllTypes) {
    const TestMatrix m = RandomMatrix(type, 32, 576, 6);
    const Packed packed = Pack(m.source);
    const auto x = RandomFloats(8 * 576, 7);
    const auto y = Multiply(packed.matrix, x, 8);
    std::vector<float> w(576);
    for (std::uint32_t c = 0; c < 32; ++c) {
      DequantiseRow(m.source, c, w.data());
      for (std::uint32_t r = 0; r < 8; ++r) {
        double sum = 0, size = 0;
        for (std::uint32_t i = 0; i < 576; ++i) {
          const double term = static_cast<double>(x[r * 576 + i]) * w[i];
          sum += term;
          size += std::fabs(term);
        }
        ASSERT_LE(std::fabs(y[r * 32 + c] - sum), 577 * 0x1p-24 * size * (fused() ? 1 : 2));
      }
    }
  }
}

TEST_P(GemmTest, ARowsBitsDependNeitherOnItsCompanyNorOnTheRange) {
  for (const WeightType type : kAllTypes) {
    for (const Shape shape : Shapes(type)) {
      const TestMatrix m = RandomMatrix(type, shape.n, shape.k, 8);
      const Packed packed = Pack(m.source);
      const auto x = RandomFloats(40 * shape.k, 9);
      const auto all = Multiply(packed.matrix, x, 40);
      for (const std::uint32_t rows : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 11u, 13u, 17u}) {
        for (const std::size_t step : {std::size_t{1}, std::size_t{2}, std::size_t{1} << 30}) {
          const std::vector<float> some_x(x.end() - rows * shape.k, x.end());
          const std::vector<float> expected(all.end() - rows * shape.n, all.end());
          ASSERT_TRUE(SameBits(Multiply(packed.matrix, some_x, rows, step), expected))
              << int(type) << " rows " << rows << " step " << step;
        }
      }
    }
  }
}

TEST_P(GemmTest, TouchesOnlyItsColumnsAndRows) {
  for (const std::uint32_t rows : {1u, 3u, 4u, 10u}) {
    const TestMatrix m = RandomMatrix(WeightType::kQ4_1, 55, 64, 10);
    const Packed packed = Pack(m.source);
    constexpr std::size_t kXStride = 70, kYStride = 60;
    std::vector<float> x(rows * kXStride, std::nanf(""));  // poison between the rows
    const auto values = RandomFloats(rows * 64, 11);
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (int i = 0; i < 64; ++i) x[r * kXStride + i] = values[r * 64 + i];
    }
    std::vector<float> y(rows * kYStride, 7.0f);
    ops_->gemm({&packed.matrix, x.data(), kXStride, rows, y.data(), kYStride}, 1, 4);
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < kYStride; ++c) {
        if (c < 16 || c >= 55) {
          ASSERT_EQ(y[r * kYStride + c], 7.0f) << r << " " << c;
        } else {
          ASSERT_TRUE(std::isfinite(y[r * kYStride + c])) << r << " " << c;
        }
      }
    }
  }
}

TEST_P(GemmTest, NoRowsIsNothing) {
  const Packed packed = Pack(RandomMatrix(WeightType::kF32, 16, 8, 12).source);
  ops_->gemm({&packed.matrix, nullptr, 8, 0, nullptr, 16}, 0, 1);
}

CAIRN_FOR_EVERY_TIER(GemmTest);

}  // namespace
}  // namespace cairn::host
