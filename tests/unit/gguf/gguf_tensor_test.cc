#include "libs/gguf/gguf_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "libs/base/bytes.h"
#include "libs/gguf/quantise.h"

namespace cairn {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(GgufTensorTest, RowsFollowEachOtherOverAllHigherDims) {
  const std::string stored = Quantise(TensorType::kF32, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const GgufTensor tensor = {"t", TensorType::kF32, {2, 3, 2}, AsBytes(stored), 0};
  EXPECT_EQ(tensor.rows(), 6u);
  EXPECT_EQ(tensor.row_values(), 2u);
  EXPECT_EQ(tensor.row_bytes(), 8u);
  std::vector<float> row(2);
  tensor.DequantiseRow(5, absl::MakeSpan(row));
  EXPECT_THAT(row, ElementsAre(11, 12));
  EXPECT_EQ(tensor.DequantiseAll()[6], 7.0f);
}

TEST(GgufTensorTest, QuantisedRowIsWholeGroups) {
  std::vector<float> values(64 * 2, 1.0f);
  for (int i = 64; i < 128; ++i) values[i] = -1.0f;
  const std::string stored = Quantise(TensorType::kQ8_0, values);
  const GgufTensor tensor = {"t", TensorType::kQ8_0, {64, 2}, AsBytes(stored), 0};
  EXPECT_EQ(tensor.row_bytes(), 68u);
  EXPECT_EQ(tensor.Row(1).data(), tensor.bytes.data() + 68);
  std::vector<float> row(64);
  tensor.DequantiseRow(1, absl::MakeSpan(row));
  EXPECT_THAT(row, Each(::testing::FloatNear(-1.0f, 1e-3f)));
}

TEST(GgufTensorDeathTest, RowBeyondTheLastIsABug) {
  const std::string stored = Quantise(TensorType::kF32, {1, 2});
  const GgufTensor tensor = {"name", TensorType::kF32, {1, 2}, AsBytes(stored), 0};
  EXPECT_DEATH(tensor.Row(2), "name 2");
}

}  // namespace
}  // namespace cairn
