#include "libs/gguf/dequantise.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "libs/base/bytes.h"
#include "libs/gguf/float16.h"

namespace cairn {
namespace {

std::vector<float> Values(TensorType type, const std::string& stored, std::size_t count) {
  std::vector<float> out(count);
  Dequantise(type, AsBytes(stored), absl::MakeSpan(out));
  return out;
}

// Nibble i of the 16 bytes is i (low) and 15 - i (high).
void PutNibbles(ByteWriter& out) {
  for (int i = 0; i < 16; ++i) out.Put(static_cast<std::uint8_t>(i | (15 - i) << 4));
}

TEST(DequantiseTest, Q4_1IsScaleTimesLevelPlusMinimum) {
  ByteWriter out;
  out.Put(FloatToHalf(0.5f));
  out.Put(FloatToHalf(-3.0f));
  PutNibbles(out);
  const auto values = Values(TensorType::kQ4_1, std::move(out).Take(), 32);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(values[i], 0.5f * i - 3.0f);
    EXPECT_EQ(values[16 + i], 0.5f * (15 - i) - 3.0f);
  }
}

TEST(DequantiseTest, Q4_0IsScaleTimesLevelLessEight) {
  ByteWriter out;
  out.Put(FloatToHalf(0.25f));
  PutNibbles(out);
  const auto values = Values(TensorType::kQ4_0, std::move(out).Take(), 32);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(values[i], 0.25f * (i - 8));
    EXPECT_EQ(values[16 + i], 0.25f * (7 - i));
  }
}

TEST(DequantiseTest, Q8_0IsScaleTimesSignedByte) {
  ByteWriter out;
  out.Put(FloatToHalf(2.0f));
  for (int i = 0; i < 32; ++i) out.Put(static_cast<std::int8_t>(i * 8 - 128));
  const auto values = Values(TensorType::kQ8_0, std::move(out).Take(), 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(values[i], 2.0f * (i * 8 - 128));
}

TEST(DequantiseTest, FloatsAreReadAtAnyAlignment) {
  ByteWriter halves;
  halves.Put(std::uint8_t{0});
  halves.Put(FloatToHalf(1.5f));
  halves.Put(FloatToHalf(-2.0f));
  const std::string shifted = std::move(halves).Take();
  EXPECT_EQ(Values(TensorType::kF16, shifted.substr(1), 2), (std::vector<float>{1.5f, -2.0f}));
  std::vector<float> out(2);
  Dequantise(TensorType::kF16, AsBytes(shifted).subspan(1), absl::MakeSpan(out));
  EXPECT_EQ(out, (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(Values(TensorType::kBf16, std::string("\x80\x3F\x00\xC0", 4), 2),
            (std::vector<float>{1.0f, -2.0f}));
  EXPECT_EQ(Values(TensorType::kF32, std::string("\x00\x00\x80\x3F", 4), 1),
            (std::vector<float>{1.0f}));
}

TEST(DequantiseTest, GroupsFollowEachOther) {
  std::string stored;
  for (float d : {1.0f, 2.0f, 4.0f}) {
    ByteWriter group;
    group.Put(FloatToHalf(d));
    for (int i = 0; i < 32; ++i) group.Put(std::int8_t{1});
    stored += std::move(group).Take();
  }
  const auto values = Values(TensorType::kQ8_0, stored, 96);
  EXPECT_EQ(values[31], 1.0f);
  EXPECT_EQ(values[32], 2.0f);
  EXPECT_EQ(values[95], 4.0f);
}

TEST(DequantiseDeathTest, WrongSizesAreABug) {
  std::vector<float> out(32);
  EXPECT_DEATH(Dequantise(TensorType::kQ8_0, AsBytes("short"), absl::MakeSpan(out)), "Q8_0 5 32");
}

}  // namespace
}  // namespace cairn
