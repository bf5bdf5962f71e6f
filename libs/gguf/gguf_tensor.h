#ifndef CAIRN_LIBS_GGUF_GGUF_TENSOR_H_
#define CAIRN_LIBS_GGUF_GGUF_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "libs/gguf/tensor_type.h"

namespace cairn {

// A tensor as stored. `dims` is the file's order: dims[0] values make a row, rows follow each
// other, so that a matrix that maps `in` to `out` features has dims {in, out}.
struct GgufTensor {
  absl::string_view name;
  TensorType type = TensorType::kF32;
  std::vector<std::uint64_t> dims;
  absl::Span<const std::byte> bytes;  // exactly the tensor; aligned as the file's bytes are
  std::size_t offset = 0;             // of `bytes`, in the file

  std::uint64_t row_values() const { return dims[0]; }
  std::uint64_t rows() const;
  std::size_t row_bytes() const;
  absl::Span<const std::byte> Row(std::uint64_t row) const;
  // Exact float values of one row; out.size() == row_values() (checked).
  void DequantiseRow(std::uint64_t row, absl::Span<float> out) const;
  std::vector<float> DequantiseAll() const;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_GGUF_GGUF_TENSOR_H_
