#include "libs/gguf/gguf_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "libs/base/bytes.h"
#include "libs/gguf/gguf_file.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;

TEST(GgufWriterTest, EmptyFileIsTheHeaderAlone) {
  const std::string file = GgufWriter().Finish();
  EXPECT_EQ(file.substr(0, 4), "GGUF");
  EXPECT_EQ(file.size(), 32u);  // 24 bytes, padded
  const auto parsed = GgufFile::Parse(AsBytes(file));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(parsed->tensors().empty());
}

TEST(GgufWriterTest, TensorsOfEveryTypeComeBack) {
  std::vector<float> values(64 * 3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 16) - 8;
  for (std::uint32_t alignment : {8u, 32u, 4096u}) {
    GgufWriter w({.version = 2, .alignment = alignment});
    for (TensorType type : {TensorType::kF32, TensorType::kF16, TensorType::kBf16,
                            TensorType::kQ8_0, TensorType::kQ4_0, TensorType::kQ4_1}) {
      w.AddTensor(NameOf(type), type, {64, 3}, values);
    }
    const std::string file = std::move(w).Finish();
    const auto parsed = GgufFile::Parse(AsBytes(file));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->version(), 2u);
    ASSERT_EQ(parsed->tensors().size(), 6u);
    for (const GgufTensor& tensor : parsed->tensors()) {
      EXPECT_EQ(tensor.offset % alignment, 0u);
      EXPECT_THAT(tensor.dims, ElementsAre(64, 3));
      const std::vector<float> back = tensor.DequantiseAll();
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_NEAR(back[i], values[i], 0.6) << tensor.name << " " << i;
      }
    }
    EXPECT_EQ(parsed->Find("F32")->DequantiseAll(), values);
    EXPECT_EQ(parsed->Find("BF16")->DequantiseAll(), values);
  }
}

TEST(GgufWriterDeathTest, ValuesThatDoNotFitTheShapeAreABug) {
  GgufWriter w;
  EXPECT_DEATH(w.AddTensor("t", TensorType::kF32, {4}, {1.0f}), "t 1");
}

}  // namespace
}  // namespace cairn
