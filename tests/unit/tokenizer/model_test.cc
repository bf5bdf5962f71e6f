// The real model's tokenizer against ids that an independent one gave (tools/reference/README.md).
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "libs/base/hex.h"
#include "libs/gguf/gguf_file.h"
#include "libs/mapped_file/mapped_file.h"
#include "libs/tokenizer/tokenizer.h"
#include "tests/support/json_file.h"

namespace cairn {
namespace {

constexpr char kModel[] = "model/SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr char kCases[] = "tests/data/tokenizer_cases.json";

// Skips the test where the model is not there (tools/setup fetches it).
class ModelTokenizerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto mapped = MappedFile::Open(kModel);
    if (!mapped.ok()) GTEST_SKIP() << "no model: " << mapped.status();
    const auto file = GgufFile::Parse(mapped->bytes());
    ASSERT_TRUE(file.ok()) << file.status();
    auto tokenizer = Tokenizer::Create(file->metadata());
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    tokenizer_ = *std::move(tokenizer);
  }
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(ModelTokenizerTest, IdsEqualTheReference) {
  const boost::json::value all = ReadJsonFile(kCases);
  std::size_t cases = 0;
  for (const auto& c : all.at("cases").as_array()) {
    const bool is_text = c.as_object().contains("text");
    const std::string text = is_text ? std::string(c.at("text").as_string())
                                     : *FromHex(std::string(c.at("hex").as_string()));
    std::vector<std::uint32_t> expected;
    for (const auto& id : c.at("ids").as_array()) {
      expected.push_back(static_cast<std::uint32_t>(id.as_int64()));
    }
    const auto ids = tokenizer_->Encode(text);
    ASSERT_TRUE(ids.ok()) << ids.status();
    EXPECT_EQ(*ids, expected) << c.at("name");
    bool every_byte = true;
    for (char b : text) every_byte &= tokenizer_->HasByte(static_cast<std::uint8_t>(b));
    EXPECT_EQ(tokenizer_->Decode(*ids) == text, every_byte) << c.at("name");
    ++cases;
  }
  EXPECT_GE(cases, 60u);
}

TEST_F(ModelTokenizerTest, VocabularyIsAsKnown) {
  EXPECT_EQ(tokenizer_->size(), 49152u);
  EXPECT_EQ(*tokenizer_->bos_id(), 1u);
  EXPECT_EQ(*tokenizer_->eos_id(), 2u);
  EXPECT_EQ(*tokenizer_->ControlId("<|im_start|>"), 1u);
  int without = 0;
  for (int byte = 0; byte < 256; ++byte)
    without += !tokenizer_->HasByte(static_cast<std::uint8_t>(byte));
  EXPECT_EQ(without, 21);
}

}  // namespace
}  // namespace cairn
