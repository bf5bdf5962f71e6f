#ifndef CAIRN_KERNELS_HOST_EXACT_TRIG_H_
#define CAIRN_KERNELS_HOST_EXACT_TRIG_H_

#include <cstdint>

// The little mathematics behind RopeTable, in IEEE double additions, multiplications and divisions
// only: the same bits on every CPU and compiler (-ffp-contract=off). libm's code differs by CPU.

namespace cairn::host::exact {

// hi + lo, |lo| <= ulp(hi)/2: about 106 significant bits.
struct Double2 {
  double hi = 0.0;
  double lo = 0.0;
};

Double2 Add(Double2 a, Double2 b);
Double2 Mul(Double2 a, Double2 b);  // relative error under 2^-100
Double2 Div(Double2 a, Double2 b);

// x^(1/degree) for x >= 1 and degree >= 1, relative error under 2^-95.
Double2 Root(double x, std::uint32_t degree);

struct SinCos {
  double sin = 0.0;
  double cos = 0.0;
};

// sin and cos of 0 <= angle < 2^26: absolute error under 2^-52.
SinCos SinCosOf(Double2 angle);

}  // namespace cairn::host::exact
#endif  // CAIRN_KERNELS_HOST_EXACT_TRIG_H_
