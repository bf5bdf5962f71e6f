#include "libs/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libs/base/bytes.h"
#include "libs/base/limits.h"
#include "libs/base/rng.h"
#include "libs/gguf/gguf_file.h"
#include "tests/support/small_vocabulary.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Tokenizer>> Load(const SmallVocabulary& vocabulary) {
  GgufWriter w;
  vocabulary.WriteTo(w);
  const std::string file = std::move(w).Finish();
  return Tokenizer::Create(GgufFile::Parse(AsBytes(file))->metadata());
}

std::uint32_t Byte(char c) { return SmallVocabulary::ByteId(c); }

TEST(TokenizerTest, MergesApplyWithinPieces) {
  SmallVocabulary v;
  const std::uint32_t th = v.AddMerge("t", "h");
  const std::uint32_t the = v.AddMerge("th", "e");
  const std::uint32_t space_the = v.AddMerge("\u0120", "the");
  const auto t = *Load(v);
  EXPECT_THAT(*t->Encode("the the"), ElementsAre(the, space_the));
  EXPECT_THAT(*t->Encode("th1e"), ElementsAre(th, Byte('1'), Byte('e')));
  EXPECT_EQ(t->Decode({the, space_the}), "the the");
  EXPECT_THAT(*t->Encode(""), ElementsAre());
}

TEST(TokenizerTest, ControlTokensNeverComeFromText) {
  const auto t = *Load(SmallVocabulary());
  const auto ids = *t->Encode("<|im_start|><|endoftext|>");
  EXPECT_EQ(ids.size(), 25u);
  for (std::uint32_t id : ids) EXPECT_FALSE(t->IsControl(id));
  EXPECT_TRUE(t->IsControl(1));
  EXPECT_EQ(*t->ControlId("<|im_end|>"), 2u);
  EXPECT_FALSE(t->ControlId("a").has_value()) << "an ordinary token";
  EXPECT_EQ(*t->bos_id(), 1u);
  EXPECT_EQ(*t->eos_id(), 2u);
  EXPECT_EQ(t->Decode({1}), "<|im_start|>");
}

TEST(TokenizerTest, ByteThatIsAControlTokenIsLeftOut) {
  SmallVocabulary v;
  v.types[Byte('!')] = 3;
  const auto t = *Load(v);
  EXPECT_THAT(*t->Encode("a!b"), ElementsAre(Byte('a'), Byte('b')));
  EXPECT_FALSE(t->HasByte('!'));
  EXPECT_TRUE(t->HasByte('a'));
}

TEST(TokenizerTest, AnyBytesComeBack) {
  SmallVocabulary v;
  v.AddMerge("a", "b");
  v.AddMerge("\u00C3", "\u00A9");  // the two bytes of e acute
  const auto t = *Load(v);
  Rng rng(3);
  for (int round = 0; round < 500; ++round) {
    std::string text(rng.Below(40), '\0');
    for (char& c : text)
      c = rng.Chance(1, 2) ? static_cast<char>(rng.Below(256)) : "ab \xC3\xA9"[rng.Below(5)];
    ASSERT_EQ(t->Decode(*t->Encode(text)), text);
  }
}

TEST(TokenizerTest, BrokenBytesDoNotMerge) {
  SmallVocabulary v;
  v.AddMerge("\u00C3", "\u00C3");
  const auto t = *Load(v);
  EXPECT_THAT(*t->Encode("\xC3\xC3"), ElementsAre(Byte('\xC3'), Byte('\xC3')));
}

TEST(TokenizerTest, UnknownIdsDecodeToNothing) {
  const auto t = *Load(SmallVocabulary());
  EXPECT_EQ(t->size(), 259u);
  EXPECT_EQ(t->Decode({259, UINT32_MAX}), "");
  EXPECT_FALSE(t->IsControl(259));
}

TEST(TokenizerTest, TextBeyondTheLimitIsRefused) {
  const auto t = *Load(SmallVocabulary());
  const std::string longest(limits::kTokenizerTextBytesMax, ' ');
  const auto ids = t->Encode(longest);
  ASSERT_TRUE(ids.ok()) << ids.status();
  EXPECT_EQ(ids->size(), longest.size());
  EXPECT_EQ(t->Encode(longest + " ").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(TokenizerTest, BadVocabulariesAreRefusedByKey) {
  const struct {
    const char* name;
    std::function<void(SmallVocabulary&)> spoil;
    const char* says;
  } cases[] = {
      {"unknown rules", [](auto& v) { v.pre = "llama-bpe"; }, "llama-bpe"},
      {"fewer types", [](auto& v) { v.types.pop_back(); }, "258 types for 259 tokens"},
      {"user-defined token", [](auto& v) { v.AddToken("<tool>", 4); },
       "token 259 '<tool>' has type 4"},
      {"type 0", [](auto& v) { v.types[5] = 0; }, "token 5"},
      {"token twice", [](auto& v) { v.AddToken("a"); }, "'a' is there twice"},
      {"control token twice", [](auto& v) { v.AddToken("<|im_end|>", 3); }, "is there twice"},
      {"no tokens", [](auto& v) { v.tokens.clear(), v.types.clear(); }, "0 tokens"},
      {"token too long", [](auto& v) { v.AddToken(std::string(5000, 'x')); }, "has 5000 bytes"},
      {"merge of one word", [](auto& v) { v.merges.push_back("ab"); }, "merge 0 'ab' is not two"},
      {"merge of three", [](auto& v) { v.merges.push_back("a b c"); }, "is not two words"},
      {"merge of nothing", [](auto& v) { v.merges.push_back("a "); }, "no normal token"},
      {"merge to no token", [](auto& v) { v.merges.push_back("a b"); }, "no normal token"},
      {"merge twice", [](auto& v) { v.AddMerge("a", "b"), v.merges.push_back("a b"); },
       "merge 1 'a b' is there twice"},
      {"merge to a control token", [](auto& v) { v.AddToken("ab", 3), v.merges.push_back("a b"); },
       "no normal token"},
  };
  for (const auto& c : cases) {
    SmallVocabulary v;
    c.spoil(v);
    const auto loaded = Load(v);
    ASSERT_FALSE(loaded.ok()) << c.name;
    EXPECT_THAT(loaded.status().ToString(), HasSubstr(c.says)) << c.name;
  }
}

TEST(TokenizerTest, OtherTokenizersAreRefused) {
  const auto error_of = [](absl::string_view model, bool adds_space, std::uint32_t bos) {
    GgufWriter w;
    w.AddString("tokenizer.ggml.model", model);
    w.AddString("tokenizer.ggml.pre", "smollm");
    w.AddBool("tokenizer.ggml.add_space_prefix", adds_space);
    w.AddStrings("tokenizer.ggml.tokens", {"a"});
    w.AddInt32s("tokenizer.ggml.token_type", {1});
    w.AddStrings("tokenizer.ggml.merges", {});
    w.AddUint32("tokenizer.ggml.bos_token_id", bos);
    const std::string file = std::move(w).Finish();
    return Tokenizer::Create(GgufFile::Parse(AsBytes(file))->metadata()).status().ToString();
  };
  EXPECT_EQ(error_of("gpt2", false, 0), "OK");
  EXPECT_THAT(error_of("llama", false, 0), HasSubstr("'llama' is not supported"));
  EXPECT_THAT(error_of("gpt2", true, 0), HasSubstr("add_space_prefix"));
  EXPECT_THAT(error_of("gpt2", false, 1), HasSubstr("bos_token_id': 1 of a vocabulary of 1"));
  EXPECT_THAT(Tokenizer::Create(GgufMetadata()).status().ToString(), HasSubstr("NOT_FOUND"));
}

}  // namespace
}  // namespace cairn
