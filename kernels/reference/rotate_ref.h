#ifndef CAIRN_KERNELS_REFERENCE_ROTATE_REF_H_
#define CAIRN_KERNELS_REFERENCE_ROTATE_REF_H_

#include <cmath>
#include <cstdint>
#include <vector>

// RoPE in double: the answer that the kernels approximate. Plain loops, for tests.

namespace cairn::reference {

struct Rotary {
  std::uint32_t head_dim;
  std::uint32_t rotary_dim;
  bool is_adjacent;  // pairs (2j, 2j + 1), else (j, j + rotary_dim / 2)
  double theta;
};

inline double Angle(const Rotary& rotary, std::uint32_t position, std::uint32_t pair) {
  return position * std::pow(rotary.theta, -2.0 * pair / rotary.rotary_dim);
}

// `key` turned to `position`.
inline std::vector<double> Rotated(const Rotary& rotary, std::vector<double> key,
                                   std::uint32_t position) {
  for (std::uint32_t j = 0; j < rotary.rotary_dim / 2; ++j) {
    double& x = key[rotary.is_adjacent ? 2 * j : j];
    double& y = key[rotary.is_adjacent ? 2 * j + 1 : j + rotary.rotary_dim / 2];
    const double angle = Angle(rotary, position, j);
    const double turned = x * std::cos(angle) - y * std::sin(angle);
    y = x * std::sin(angle) + y * std::cos(angle);
    x = turned;
  }
  return key;
}

// `key` turned back from `position`: what Rotated made it of.
inline std::vector<double> TurnedBack(const Rotary& rotary, std::vector<double> key,
                                      std::uint32_t position) {
  for (std::uint32_t j = 0; j < rotary.rotary_dim / 2; ++j) {
    double& x = key[rotary.is_adjacent ? 2 * j : j];
    double& y = key[rotary.is_adjacent ? 2 * j + 1 : j + rotary.rotary_dim / 2];
    const double angle = Angle(rotary, position, j);
    const double turned = x * std::cos(angle) + y * std::sin(angle);
    y = y * std::cos(angle) - x * std::sin(angle);
    x = turned;
  }
  return key;
}

// [position][pair][cos, sin] in fp32, each rounded once from double.
inline std::vector<float> RotaryTable(const Rotary& rotary, std::uint32_t positions) {
  std::vector<float> table;
  table.reserve(std::size_t{positions} * rotary.rotary_dim);
  for (std::uint32_t p = 0; p < positions; ++p) {
    for (std::uint32_t j = 0; j < rotary.rotary_dim / 2; ++j) {
      table.push_back(static_cast<float>(std::cos(Angle(rotary, p, j))));
      table.push_back(static_cast<float>(std::sin(Angle(rotary, p, j))));
    }
  }
  return table;
}

}  // namespace cairn::reference

#endif  // CAIRN_KERNELS_REFERENCE_ROTATE_REF_H_
