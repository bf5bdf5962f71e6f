#ifndef CAIRN_KERNELS_TEST_RANDOM_MATRIX_H_
#define CAIRN_KERNELS_TEST_RANDOM_MATRIX_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/sk/emu/random.h"
#include "kernels/sk/number_soft.h"

// Random floats; small matrices of random 16-bit ones, and their product in double.

namespace cairn::test {

// Uniform in [-1, 1).
inline float RandomUnit(sk::emu::Random& random) {
  return static_cast<float>(static_cast<std::int32_t>(random.Next() >> 32)) * 0x1p-31f;
}
// ... in [-spread, spread).
inline std::vector<float> RandomFloats(std::size_t count, std::uint64_t seed, float spread) {
  sk::emu::Random random(seed);
  std::vector<float> values(count);
  for (float& x : values) x = RandomUnit(random) * spread;
  return values;
}

struct Matrix {  // row-major, bf16 or f16 bits
  std::uint32_t rows = 0, columns = 0;
  std::vector<std::uint16_t> bits;
  std::uint16_t at(std::uint32_t row, std::uint32_t column) const {
    return bits[row * columns + column];
  }
};

// Units, rounded to bf16 (or f16).
inline Matrix RandomMatrix(std::uint32_t rows, std::uint32_t columns, std::uint64_t seed,
                           bool is_f16 = false) {
  sk::emu::Random random(seed);
  Matrix matrix{rows, columns, std::vector<std::uint16_t>(std::size_t{rows} * columns)};
  for (std::uint16_t& bits : matrix.bits) {
    const float x = RandomUnit(random);
    bits = is_f16 ? sk::soft::RoundF16(x) : sk::soft::RoundBf16(x);
  }
  return matrix;
}

inline double ToDouble(std::uint16_t bits, bool is_f16) {
  return is_f16 ? sk::soft::FromF16(bits) : sk::soft::FromBf16(bits);
}

// a (m x k) times the transpose of b (n x k).
inline std::vector<double> ProductOf(const Matrix& a, const Matrix& b, bool is_f16 = false) {
  std::vector<double> product(std::size_t{a.rows} * b.rows, 0.0);
  for (std::uint32_t m = 0; m < a.rows; ++m) {
    for (std::uint32_t n = 0; n < b.rows; ++n) {
      for (std::uint32_t k = 0; k < a.columns; ++k) {
        product[m * b.rows + n] += ToDouble(a.at(m, k), is_f16) * ToDouble(b.at(n, k), is_f16);
      }
    }
  }
  return product;
}

// "" or the first difference: values of a sum of `terms` products below 1 in fp32.
inline std::string Differs(const std::vector<float>& got, const std::vector<double>& expected,
                           std::uint32_t terms) {
  if (got.size() != expected.size()) return "sizes differ";
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!(std::fabs(got[i] - expected[i]) <= terms * 1e-6)) {  // not: a NaN differs, too
      return "value " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " +
             std::to_string(expected[i]);
    }
  }
  return "";
}

}  // namespace cairn::test

#endif  // CAIRN_KERNELS_TEST_RANDOM_MATRIX_H_
