#ifndef CAIRN_KERNELS_REFERENCE_ROWS_REF_H_
#define CAIRN_KERNELS_REFERENCE_ROWS_REF_H_

#include <cmath>
#include <cstddef>
#include <vector>

// Norm, gate and log-sum-exp of one row, in double. Plain loops, for tests.

namespace cairn::reference {

inline std::vector<double> RmsNorm(std::vector<double> x, const std::vector<double>& weight,
                                   double epsilon) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  const double scale = 1 / std::sqrt(sum / static_cast<double>(x.size()) + epsilon);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= scale * weight[i];
  return x;
}

inline double Swiglu(double gate, double value) { return gate / (1 + std::exp(-gate)) * value; }

// -inf for no values, or where all are -inf.
inline double LogSumExp(const std::vector<double>& x) {
  double most = -INFINITY, sum = 0;
  for (const double value : x) most = std::fmax(most, value);
  if (most == -INFINITY) return most;
  for (const double value : x) sum += std::exp(value - most);
  return most + std::log(sum);
}

}  // namespace cairn::reference

#endif  // CAIRN_KERNELS_REFERENCE_ROWS_REF_H_
