#include "kernels/host/exact_trig.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cairn::host::exact {
namespace {

TEST(ExactTrigTest, ProductsKeepWhatDoubleDrops) {
  const Double2 square = Mul({1.0 + 0x1p-40, 0.0}, {1.0 + 0x1p-40, 0.0});
  EXPECT_EQ(square.hi, 1.0 + 0x1p-39);
  EXPECT_EQ(square.lo, 0x1p-80);
}

TEST(ExactTrigTest, DivisionInvertsMultiplication) {
  for (const double x : {3.0, 1.1, 1e5, 7e-9}) {
    const Double2 one = Mul(Div({1.0, 0.0}, {x, 0.0}), {x, 0.0});
    const Double2 off = Add(one, {-1.0, 0.0});
    EXPECT_LT(std::fabs(off.hi), 0x1p-99) << x;
  }
}

TEST(ExactTrigTest, RootsRaisedAgainGiveTheBase) {
  for (const double base : {1.0, 10000.0, 100000.0, 500000.0, 1e6, 1e7}) {
    for (const std::uint32_t degree : {1u, 8u, 32u, 40u, 64u, 128u}) {
      const Double2 root = Root(base, degree);
      Double2 power{1.0, 0.0};
      for (std::uint32_t i = 0; i < degree; ++i) power = Mul(power, root);
      const Double2 off = Add(power, {-base, 0.0});
      EXPECT_LT(std::fabs(off.hi), base * degree * 0x1p-95) << base << " " << degree;
    }
  }
}

// libm in long double is the reference: 64 bits, argument reduction of its own.
TEST(ExactTrigTest, SineAndCosineAreExactToTheLastBits) {
  double worst = 0;
  const auto look = [&worst](Double2 angle) {
    const long double x = static_cast<long double>(angle.hi) + angle.lo;
    const SinCos got = SinCosOf(angle);
    worst = std::max(worst, static_cast<double>(std::fabs(got.sin - std::sin(x))));
    worst = std::max(worst, static_cast<double>(std::fabs(got.cos - std::cos(x))));
  };
  for (int i = 0; i < 200000; ++i) look({i * 0.00137, 0.0});
  for (int i = 0; i < 200000; ++i) look({i * 311.7, 0.0});  // up to 6.2e7
  for (int i = 1; i < 2000; ++i)
    look(Mul({1.5707963267948966, 6.123233995736766e-17}, {i * 1.0, 0.0}));
  std::printf("sin, cos: worst error %.3g = 2^%.2f\n", worst, std::log2(worst));
  EXPECT_LE(worst, 0x1p-52);
}

TEST(ExactTrigTest, ZeroIsExact) {
  EXPECT_EQ(SinCosOf({0.0, 0.0}).sin, 0.0);
  EXPECT_EQ(SinCosOf({0.0, 0.0}).cos, 1.0);
}

}  // namespace
}  // namespace cairn::host::exact
