#include "libs/gguf/tensor_type.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(TensorTypeTest, NumbersAreTheFormats) {
  const struct {
    std::uint32_t number;
    const char* name;
    std::uint32_t values, bytes;
  } cases[] = {{0, "F32", 1, 4},    {1, "F16", 1, 2},    {30, "BF16", 1, 2},
               {8, "Q8_0", 32, 34}, {2, "Q4_0", 32, 18}, {3, "Q4_1", 32, 20}};
  for (const auto& c : cases) {
    const auto type = TensorTypeFromNumber(c.number);
    ASSERT_TRUE(type.ok()) << c.number;
    EXPECT_STREQ(NameOf(*type), c.name);
    EXPECT_EQ(GroupOf(*type).values, c.values);
    EXPECT_EQ(GroupOf(*type).bytes, c.bytes);
  }
}

TEST(TensorTypeTest, OtherTypesAreRefusedByName) {
  const auto k_quant = TensorTypeFromNumber(14);
  EXPECT_EQ(k_quant.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(k_quant.status().message().find("Q6_K (14)"), absl::string_view::npos);
  EXPECT_EQ(TensorTypeFromNumber(UINT32_MAX).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace cairn
