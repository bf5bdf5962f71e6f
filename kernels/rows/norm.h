#ifndef CAIRN_KERNELS_ROWS_NORM_H_
#define CAIRN_KERNELS_ROWS_NORM_H_

#include <cstdint>
#include <string>

#include "kernels/sk/rt/runtime.h"

// RMSNorm of rows: y = round(x / sqrt(mean(x^2) + epsilon) * weight), in fp32 up to the one
// rounding to bf16. The order of the sum is fixed by the width.

namespace cairn::kernels {

struct NormParams {
  const float* x = nullptr;       // [*][width], 16-byte aligned
  const float* weight = nullptr;  // [width], 16-byte aligned
  std::uint16_t* y = nullptr;     // [row][width], bf16, 8-byte aligned
  std::uint32_t width = 0;        // a multiple of 4
  float epsilon = 0;              // above 0
  const std::uint32_t* picked =
      nullptr;  // row i of y is made of row picked[i] of x; null: of row i
  const std::uint32_t* row_count = nullptr;  // one word of device memory
  std::uint32_t rows_max = 0;                // the grid's size: rows beyond are not done
};

// What is wrong with the parameters, or "".
std::string Validate(const NormParams& params);
rt::Status NormRows(rt::Stream& stream, const NormParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ROWS_NORM_H_
