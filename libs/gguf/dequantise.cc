#include "libs/gguf/dequantise.h"

#include <cstdint>
#include <cstring>

#include "libs/base/check.h"
#include "libs/gguf/float16.h"

namespace cairn {
namespace {

// The bytes of a file need not be aligned for what they hold.
std::uint16_t LoadU16(const std::byte* at) {
  std::uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void GroupQ4_0(const std::byte* group, float* out) {
  const float d = HalfToFloat(LoadU16(group));
  for (int i = 0; i < 16; ++i) {
    const int q = std::to_integer<int>(group[2 + i]);
    out[i] = d * static_cast<float>((q & 15) - 8);
    out[i + 16] = d * static_cast<float>((q >> 4) - 8);
  }
}

void GroupQ4_1(const std::byte* group, float* out) {
  const float d = HalfToFloat(LoadU16(group));
  const float m = HalfToFloat(LoadU16(group + 2));
  for (int i = 0; i < 16; ++i) {
    const int q = std::to_integer<int>(group[4 + i]);
    out[i] = d * static_cast<float>(q & 15) + m;
    out[i + 16] = d * static_cast<float>(q >> 4) + m;
  }
}

void GroupQ8_0(const std::byte* group, float* out) {
  const float d = HalfToFloat(LoadU16(group));
  for (int i = 0; i < 32; ++i) {
    out[i] = d * static_cast<float>(static_cast<std::int8_t>(group[2 + i]));
  }
}

template <class GroupFunction>
void EachGroup(const TensorGroup& group, absl::Span<const std::byte> stored, absl::Span<float> out,
               GroupFunction&& function) {
  for (std::size_t g = 0; g < out.size() / group.values; ++g) {
    function(stored.data() + g * group.bytes, out.data() + g * group.values);
  }
}

}  // namespace

void Dequantise(TensorType type, absl::Span<const std::byte> stored, absl::Span<float> out) {
  const TensorGroup group = GroupOf(type);
  CAIRN_CHECK(out.size() % group.values == 0) << NameOf(type) << " " << out.size();
  CAIRN_CHECK(stored.size() == out.size() / group.values * group.bytes)
      << NameOf(type) << " " << stored.size() << " " << out.size();
  if (out.empty()) return;
  switch (type) {
    case TensorType::kF32:
      std::memcpy(out.data(), stored.data(), stored.size());
      return;
    case TensorType::kF16:
      return EachGroup(group, stored, out,
                       [](const std::byte* in, float* to) { *to = HalfToFloat(LoadU16(in)); });
    case TensorType::kBf16:
      return EachGroup(group, stored, out,
                       [](const std::byte* in, float* to) { *to = Bfloat16ToFloat(LoadU16(in)); });
    case TensorType::kQ8_0:
      return EachGroup(group, stored, out, GroupQ8_0);
    case TensorType::kQ4_0:
      return EachGroup(group, stored, out, GroupQ4_0);
    case TensorType::kQ4_1:
      return EachGroup(group, stored, out, GroupQ4_1);
  }
}

}  // namespace cairn
