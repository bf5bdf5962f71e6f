#include "libs/gguf/gguf_tensor.h"

#include "libs/base/check.h"
#include "libs/gguf/dequantise.h"

namespace cairn {

std::uint64_t GgufTensor::rows() const {
  std::uint64_t count = 1;
  for (std::size_t i = 1; i < dims.size(); ++i) count *= dims[i];
  return count;
}

std::size_t GgufTensor::row_bytes() const {
  const TensorGroup group = GroupOf(type);
  return dims[0] / group.values * group.bytes;
}

absl::Span<const std::byte> GgufTensor::Row(std::uint64_t row) const {
  CAIRN_CHECK(row < rows()) << name << " " << row;
  return bytes.subspan(row * row_bytes(), row_bytes());
}

void GgufTensor::DequantiseRow(std::uint64_t row, absl::Span<float> out) const {
  Dequantise(type, Row(row), out);
}

std::vector<float> GgufTensor::DequantiseAll() const {
  std::vector<float> out(rows() * row_values());
  Dequantise(type, bytes, absl::MakeSpan(out));
  return out;
}

}  // namespace cairn
