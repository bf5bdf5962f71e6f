#ifndef CAIRN_KERNELS_ROWS_EMBED_H_
#define CAIRN_KERNELS_ROWS_EMBED_H_

#include <cstdint>
#include <string>

#include "kernels/sk/rt/runtime.h"

// The rows' first values: x[r] = table[tokens[r]], widened.

namespace cairn::kernels {

struct EmbedParams {
  const std::uint16_t* table = nullptr;   // [vocabulary][width], bf16, 4-byte aligned
  const std::uint32_t* tokens = nullptr;  // [*row_count], device memory, each below the vocabulary
  float* x = nullptr;                     // [row][width], 8-byte aligned
  std::uint32_t width = 0;                // even
  const std::uint32_t* row_count = nullptr;  // one word of device memory
  std::uint32_t rows_max = 0;                // the grid's size: rows beyond are not done
};

// What is wrong with the parameters, or "".
std::string Validate(const EmbedParams& params);
rt::Status EmbedRows(rt::Stream& stream, const EmbedParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ROWS_EMBED_H_
