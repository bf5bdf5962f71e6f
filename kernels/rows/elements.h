#ifndef CAIRN_KERNELS_ROWS_ELEMENTS_H_
#define CAIRN_KERNELS_ROWS_ELEMENTS_H_

#include <cstdint>
#include <string>

#include "kernels/sk/rt/runtime.h"

// What a step does to each element of rows: f32 in, one rounding to bf16 out, for the next product.

namespace cairn::kernels {

struct ElementsParams {
  const float* x = nullptr;    // [row][width], or [row][2][width]: gates, then the values they gate
  std::uint16_t* y = nullptr;  // [row][width], bf16, 4-byte aligned
  std::uint32_t width = 0;     // even
  const std::uint32_t* row_count = nullptr;  // one word of device memory
  std::uint32_t rows_max = 0;                // the grid's size: rows beyond are not done
};

// What is wrong with the parameters, or "".
std::string Validate(const ElementsParams& params);

rt::Status RoundRows(rt::Stream& stream, const ElementsParams& params);
// y = g / (1 + exp(-g)) * v
rt::Status SwigluRows(rt::Stream& stream, const ElementsParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ROWS_ELEMENTS_H_
