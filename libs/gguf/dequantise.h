#ifndef CAIRN_LIBS_GGUF_DEQUANTISE_H_
#define CAIRN_LIBS_GGUF_DEQUANTISE_H_

#include <cstddef>

#include "absl/types/span.h"
#include "libs/gguf/tensor_type.h"

namespace cairn {

// Writes the exact float value of every stored value to `out`. `stored` is whole groups of `type`,
// of any alignment, and holds out.size() values (checked: a mismatch is our bug).
// Exact: d * q has at most 19 significant bits, so that only the sum of Q4_1 rounds, once, with or
// without a fused multiply-add. A plain reference; faster tiers must give equal bits.
void Dequantise(TensorType type, absl::Span<const std::byte> stored, absl::Span<float> out);

}  // namespace cairn
#endif  // CAIRN_LIBS_GGUF_DEQUANTISE_H_
