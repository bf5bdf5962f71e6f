#ifndef CAIRN_KERNELS_REFERENCE_LINEAR_REF_H_
#define CAIRN_KERNELS_REFERENCE_LINEAR_REF_H_

#include <cmath>
#include <cstddef>
#include <vector>

// y = x W^T in double. Plain loops, for tests.

namespace cairn::reference {

struct Product {
  std::vector<double> values;  // [rows][n]
  std::vector<double>
      magnitudes;  // the sums of the products' magnitudes: what errors are measured by
};

// x: [rows][k], w: [n][k].
inline Product Linear(const std::vector<double>& x, const std::vector<double>& w, std::size_t k) {
  const std::size_t rows = x.size() / k, n = w.size() / k;
  Product product{std::vector<double>(rows * n), std::vector<double>(rows * n)};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < k; ++j) {
        const double term = x[r * k + j] * w[i * k + j];
        product.values[r * n + i] += term;
        product.magnitudes[r * n + i] += std::fabs(term);
      }
    }
  }
  return product;
}

}  // namespace cairn::reference

#endif  // CAIRN_KERNELS_REFERENCE_LINEAR_REF_H_
