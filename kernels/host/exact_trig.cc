#include "kernels/host/exact_trig.h"

namespace cairn::host::exact {
namespace {

// a + b = hi + lo exactly (Knuth).
Double2 TwoSum(double a, double b) {
  const double sum = a + b;
  const double from_b = sum - a;
  const double error = (a - (sum - from_b)) + (b - from_b);
  return {sum, error};
}

// The same for |a| >= |b| (Dekker).
Double2 QuickTwoSum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// a * b = hi + lo exactly: each factor is split into halves of 26 bits (no fma, which plain CPUs
// lack).
Double2 TwoProduct(double a, double b) {
  constexpr double kSplit = 134217729.0;  // 2^27 + 1
  const double ta = kSplit * a;
  const double tb = kSplit * b;
  const double a_hi = ta - (ta - a);
  const double b_hi = tb - (tb - b);
  const double a_lo = a - a_hi;
  const double b_lo = b - b_hi;
  const double product = a * b;
  return {product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}

// x^power by squaring.
Double2 Power(Double2 x, std::uint32_t power) {
  Double2 result{1.0, 0.0};
  for (; power > 0; power >>= 1, x = Mul(x, x)) {
    if ((power & 1) != 0) result = Mul(result, x);
  }
  return result;
}

double Power(double x, std::uint32_t power) {
  double result = 1.0;
  for (; power > 0; power >>= 1, x *= x) {
    if ((power & 1) != 0) result *= x;
  }
  return result;
}

constexpr Double2 kHalfPi{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;

// 1/n!, each rounded once: n! is exact in a double up to 22!.
constexpr double Inverse(int n) {
  double factorial = 1.0;
  for (int i = 2; i <= n; ++i) factorial *= i;
  return 1.0 / factorial;
}

// Taylor sums for |x| <= pi/4; the first term left out is below 2^-72.
double SinTaylor(double x) {
  constexpr double kTerms[] = {-Inverse(3), Inverse(5),   -Inverse(7), Inverse(9),  -Inverse(11),
                               Inverse(13), -Inverse(15), Inverse(17), -Inverse(19)};
  const double square = x * x;
  double sum = 0.0;
  for (int i = 8; i >= 0; --i) sum = sum * square + kTerms[i];
  return x + x * square * sum;
}

double CosTaylor(double x) {
  constexpr double kTerms[] = {Inverse(4),   -Inverse(6), Inverse(8),   -Inverse(10), Inverse(12),
                               -Inverse(14), Inverse(16), -Inverse(18), Inverse(20)};
  const double square = x * x;
  double sum = 0.0;
  for (int i = 8; i >= 0; --i) sum = sum * square + kTerms[i];
  const double half = 0.5 * square;
  const double most = 1.0 - half;
  return most + (((1.0 - most) - half) + square * square * sum);
}

}  // namespace

Double2 Add(Double2 a, Double2 b) {
  Double2 sum = TwoSum(a.hi, b.hi);
  const Double2 low = TwoSum(a.lo, b.lo);
  sum = QuickTwoSum(sum.hi, sum.lo + low.hi);
  return QuickTwoSum(sum.hi, sum.lo + low.lo);
}

Double2 Mul(Double2 a, Double2 b) {
  const Double2 product = TwoProduct(a.hi, b.hi);
  return QuickTwoSum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

Double2 Div(Double2 a, Double2 b) {
  const double first = a.hi / b.hi;
  Double2 rest = Add(a, Mul(b, {-first, 0.0}));
  const double second = rest.hi / b.hi;
  rest = Add(rest, Mul(b, {-second, 0.0}));
  const double third = rest.hi / b.hi;
  return Add(QuickTwoSum(first, second), {third, 0.0});
}

Double2 Root(double x, std::uint32_t degree) {
  // Bisection in double gives about 45 bits; each Newton step doubles them.
  double below = 1.0;
  double above = x;
  for (int i = 0; i < 128; ++i) {
    const double middle = 0.5 * (below + above);
    (Power(middle, degree) <= x ? below : above) = middle;
  }
  Double2 y{below, 0.0};
  for (int i = 0; i < 3; ++i) {
    const Double2 excess = Add(Div({x, 0.0}, Power(y, degree)), {-1.0, 0.0});
    y = Add(y, Div(Mul(y, excess), {static_cast<double>(degree), 0.0}));
  }
  return y;
}

SinCos SinCosOf(Double2 angle) {
  const std::int64_t turns = static_cast<std::int64_t>(angle.hi * kTwoOverPi + 0.5);
  const Double2 r = Add(angle, Mul(kHalfPi, {-static_cast<double>(turns), 0.0}));
  const double sin = SinTaylor(r.hi);
  const double cos = CosTaylor(r.hi);
  const double sin_r = sin + cos * r.lo;
  const double cos_r = cos - sin * r.lo;
  switch (turns & 3) {
    case 0:
      return {sin_r, cos_r};
    case 1:
      return {cos_r, -sin_r};
    case 2:
      return {-sin_r, -cos_r};
    default:
      return {-cos_r, sin_r};
  }
}

}  // namespace cairn::host::exact
