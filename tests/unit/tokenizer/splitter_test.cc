#include "libs/tokenizer/splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cairn {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Pieces(absl::string_view rules, absl::string_view text) {
  const auto splitter = Splitter::Create(rules);
  EXPECT_TRUE(splitter.ok()) << splitter.status();
  std::vector<std::string> out;
  const absl::Status status =
      splitter->Split(text, [&](absl::string_view piece) { out.emplace_back(piece); });
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

TEST(SplitterTest, WordsTakeOneSpaceBeforeThem) {
  EXPECT_THAT(Pieces("gpt-2", "the  cat's 12 o'clock!"),
              ElementsAre("the", " ", " cat", "'s", " 12", " o", "'", "clock", "!"));
}

TEST(SplitterTest, LastOfManySpacesGoesWithTheWord) {
  EXPECT_THAT(Pieces("gpt-2", "a   b\n\n c \n"), ElementsAre("a", "  ", " b", "\n\n", " c", " \n"));
  EXPECT_THAT(Pieces("gpt-2", "   "), ElementsAre("   "));
}

TEST(SplitterTest, SmollmCutsDigitsOffFirst) {
  EXPECT_THAT(Pieces("smollm", "x12 34"), ElementsAre("x", "1", "2", " ", "3", "4"));
  EXPECT_THAT(Pieces("smollm", "a   1  b"), ElementsAre("a", "   ", "1", " ", " b"));
  EXPECT_THAT(Pieces("gpt-2", "a   1"), ElementsAre("a", "  ", " 1"));
  EXPECT_THAT(Pieces("smollm", "\u0663\u2167\u00BD"), ElementsAre("\u0663", "\u2167", "\u00BD"));
}

TEST(SplitterTest, WhiteSpaceIsUnicodes) {
  EXPECT_THAT(Pieces("gpt-2", "a\u3000b"), ElementsAre("a", "\u3000", "b"));
  // U+180E and U+200B are no white space.
  EXPECT_THAT(Pieces("gpt-2", "a \u180E\u200B b"), ElementsAre("a", " \u180E\u200B", " b"));
}

TEST(SplitterTest, LongRunsAreOnePieceInLinearTime) {
  const std::string spaces(4 << 20, ' ');
  EXPECT_THAT(Pieces("smollm", spaces), ElementsAre(spaces));
  EXPECT_THAT(Pieces("smollm", spaces + "a"), ElementsAre(spaces.substr(1), " a"));
  EXPECT_THAT(Pieces("smollm", spaces + "7"), ElementsAre(spaces, "7"));
  const std::string letters(4 << 20, 'a');
  EXPECT_THAT(Pieces("smollm", letters), ElementsAre(letters));
}

TEST(SplitterTest, UnknownRulesAreRefused) {
  const auto splitter = Splitter::Create("llama-bpe\n");
  EXPECT_EQ(splitter.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(splitter.status().message().find("'llama-bpe\\n'"), absl::string_view::npos);
}

}  // namespace
}  // namespace cairn
