// The real model's weights against an independent unpacking (tools/reference/make_f32_model.py).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "libs/base/sha256.h"
#include "libs/gguf/gguf_file.h"
#include "libs/mapped_file/mapped_file.h"

namespace cairn {
namespace {

constexpr char kModel[] = "model/SmolLM2-135M-Instruct.Q4_1.gguf";
// Printed by tools/reference/make_f32_model.py for the file of sha256 b179c952...110db53.
constexpr char kValuesDigest[] = "1034100613c22abd3cc047d99b02ed7a8d419bc245f4cf54a4736c5f699ba569";

TEST(ModelFileTest, EveryWeightEqualsTheReference) {
  const auto mapped = MappedFile::Open(kModel);
  if (!mapped.ok()) GTEST_SKIP() << "no model: " << mapped.status();
  const auto file = GgufFile::Parse(mapped->bytes());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->tensors().size(), 272u);
  EXPECT_EQ(*file->metadata().GetUint("llama.block_count"), 30u);
  EXPECT_TRUE(file->Get("token_embd.weight", {576, 49152}).ok());
  Sha256 sum;
  for (const GgufTensor& tensor : file->tensors()) {
    const std::vector<float> values = tensor.DequantiseAll();
    sum.Update(absl::string_view(reinterpret_cast<const char*>(values.data()),
                                 values.size() * sizeof(float)));
  }
  EXPECT_EQ(sum.Finish().ToHex(), kValuesDigest);
}

}  // namespace
}  // namespace cairn
