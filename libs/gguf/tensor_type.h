#ifndef CAIRN_LIBS_GGUF_TENSOR_TYPE_H_
#define CAIRN_LIBS_GGUF_TENSOR_TYPE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace cairn {

// How a tensor's values are stored. The numbers are the file format's.
enum class TensorType : std::uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ8_0 = 8,
  kBf16 = 30,
};

// A row is stored in groups: `values` values take `bytes` bytes. A row's length must be a multiple
// of `values`.
//   Q4_0: f16 d, 16 bytes q            value = d * (q - 8)     low nibbles are values 0..15 of the
//   Q4_1: f16 d, f16 m, 16 bytes q     value = d * q + m       group, high nibbles are 16..31
//   Q8_0: f16 d, 32 signed bytes q     value = d * q
struct TensorGroup {
  std::uint32_t values = 1;
  std::uint32_t bytes = 0;
};

inline constexpr TensorGroup kGroupF32 = {1, 4};
inline constexpr TensorGroup kGroupF16 = {1, 2};
inline constexpr TensorGroup kGroupBf16 = {1, 2};
inline constexpr TensorGroup kGroupQ4_0 = {32, 18};
inline constexpr TensorGroup kGroupQ4_1 = {32, 20};
inline constexpr TensorGroup kGroupQ8_0 = {32, 34};

TensorGroup GroupOf(TensorType type);
// "Q4_1".
const char* NameOf(TensorType type);
// UNIMPLEMENTED, naming the type and those that are supported, for any other number.
absl::StatusOr<TensorType> TensorTypeFromNumber(std::uint32_t number);

}  // namespace cairn
#endif  // CAIRN_LIBS_GGUF_TENSOR_TYPE_H_
