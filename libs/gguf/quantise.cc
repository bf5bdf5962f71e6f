#include "libs/gguf/quantise.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/gguf/float16.h"

namespace cairn {
namespace {

// No libm: these run in tests that compare bits across machines.
int RoundToInt(float value) { return static_cast<int>(value < 0 ? value - 0.5f : value + 0.5f); }

float Magnitude(float value) { return value < 0 ? -value : value; }

float LargestMagnitude(absl::Span<const float> values) {
  float largest = 0;
  for (float v : values) largest = std::max(largest, Magnitude(v));
  return largest;
}

int Level(float value, float scale, int low, int high) {
  return scale == 0 ? std::clamp(0, low, high) : std::clamp(RoundToInt(value / scale), low, high);
}

void PutNibbles(absl::Span<const int> levels, ByteWriter& out) {
  for (std::size_t i = 0; i < 16; ++i) {
    out.Put(static_cast<std::uint8_t>(levels[i] | (levels[i + 16] << 4)));
  }
}

void PutQ8_0(absl::Span<const float> values, ByteWriter& out) {
  const std::uint16_t d = FloatToHalf(LargestMagnitude(values) / 127);
  out.Put(d);
  for (float v : values) {
    out.Put(static_cast<std::int8_t>(Level(v, HalfToFloat(d), -127, 127)));
  }
}

void PutQ4_0(absl::Span<const float> values, ByteWriter& out) {
  const std::uint16_t d = FloatToHalf(LargestMagnitude(values) / 7);
  int levels[32];
  for (std::size_t i = 0; i < 32; ++i) levels[i] = Level(values[i], HalfToFloat(d), -8, 7) + 8;
  out.Put(d);
  PutNibbles(levels, out);
}

void PutQ4_1(absl::Span<const float> values, ByteWriter& out) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::uint16_t m = FloatToHalf(*low);
  const std::uint16_t d = FloatToHalf((*high - *low) / 15);
  int levels[32];
  for (std::size_t i = 0; i < 32; ++i) {
    levels[i] = Level(values[i] - HalfToFloat(m), HalfToFloat(d), 0, 15);
  }
  out.Put(d);
  out.Put(m);
  PutNibbles(levels, out);
}

void PutGroup(TensorType type, absl::Span<const float> values, ByteWriter& out) {
  switch (type) {
    case TensorType::kF32:
      return out.Put(std::bit_cast<std::uint32_t>(values[0]));
    case TensorType::kF16:
      return out.Put(FloatToHalf(values[0]));
    case TensorType::kBf16:
      return out.Put(FloatToBfloat16(values[0]));
    case TensorType::kQ8_0:
      return PutQ8_0(values, out);
    case TensorType::kQ4_0:
      return PutQ4_0(values, out);
    case TensorType::kQ4_1:
      return PutQ4_1(values, out);
  }
}

}  // namespace

std::string Quantise(TensorType type, absl::Span<const float> values) {
  const TensorGroup group = GroupOf(type);
  CAIRN_CHECK(values.size() % group.values == 0) << NameOf(type) << " " << values.size();
  ByteWriter out;
  for (std::size_t i = 0; i < values.size(); i += group.values) {
    PutGroup(type, values.subspan(i, group.values), out);
  }
  return std::move(out).Take();
}

}  // namespace cairn
