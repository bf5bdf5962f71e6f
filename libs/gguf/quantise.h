#ifndef CAIRN_LIBS_GGUF_QUANTISE_H_
#define CAIRN_LIBS_GGUF_QUANTISE_H_

#include <string>

#include "absl/types/span.h"
#include "libs/gguf/tensor_type.h"

namespace cairn {

// The bytes of `values` stored as `type`, rounded to nearest; values.size() is a multiple of the
// type's group (checked). For tests and tools that write models: no search for better scales.
std::string Quantise(TensorType type, absl::Span<const float> values);

}  // namespace cairn
#endif  // CAIRN_LIBS_GGUF_QUANTISE_H_
