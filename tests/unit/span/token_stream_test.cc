#include "libs/span/token_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/span/prompts.h"

namespace cairn {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr StreamIds kIds = {.ssep = 98, .pdep = 99};
constexpr PromptOptions kBlocksOf4 = {.block_tokens = 4, .prefill_only = true};

PromptHasher Streamed(const std::vector<Token>& tokens, PromptOptions options = kBlocksOf4) {
  return HashStream(TestRoot("salt", options.block_tokens), options, kIds, tokens).value();
}

TEST(TokenStreamTest, EqualsTheSegmentsThatItSpells) {
  const PromptHasher stream = Streamed({1, 2, 3, 0, 98, 4, 5, 6, 7, 0, 0, 0, 98, 8, 0, 0, 99, 9});
  const PromptHasher api = Hashed({Prefix({1, 2, 3, 0}), Span({98, 4, 5, 6, 7, 0, 0, 0}),
                                   Span({98, 8, 0, 0}), Dependent({99, 9})});
  EXPECT_THAT(stream.keys(), ElementsAreArray(api.keys()));
  EXPECT_EQ(stream.layout().segments().size(), 4u);
}

TEST(TokenStreamTest, AnIdCountsOnlyAsTheFirstTokenOfABlock) {
  const std::vector<Token> tokens = {1, 98, 3, 99, 5, 6, 98, 99};
  EXPECT_THAT(Streamed(tokens).keys(), ElementsAreArray(Keys({Prefix(tokens)})));
}

TEST(TokenStreamTest, PdepBeforeAnySpanIsPrefixAndPdepAfterPdepGoesOn) {
  const std::vector<Token> tokens = {99, 1, 2, 3, 99, 5};
  EXPECT_THAT(Streamed(tokens).keys(), ElementsAreArray(Keys({Prefix(tokens)})));
  EXPECT_THAT(Streamed({98, 1, 2, 3, 99, 5, 6, 7, 99, 8}).keys(),
              ElementsAreArray(Keys({Span({98, 1, 2, 3}), Dependent({99, 5, 6, 7, 99, 8})})));
}

TEST(TokenStreamTest, BlocksOfOneTokenMakeEveryIdCount) {
  EXPECT_THAT(Streamed({98, 98, 99}, {.block_tokens = 1}).keys(),
              ElementsAreArray(Keys({Span({98}), Span({98}), Dependent({99})}, 1)));
}

TEST(TokenStreamTest, EveryPieceSizeGivesTheSameKeys) {
  const std::vector<Token> tokens = {1, 2, 98, 0, 98, 4, 5, 6, 98, 7, 0, 0, 99, 8, 98, 99, 10};
  const PromptHasher whole = Streamed(tokens);
  for (std::size_t piece = 1; piece <= tokens.size(); ++piece) {
    PromptHasher prompt(TestRoot(), kBlocksOf4);
    for (std::size_t i = 0; i < tokens.size(); i += piece) {
      ASSERT_TRUE(AppendStream(prompt, kIds, absl::MakeConstSpan(tokens).subspan(i, piece)).ok());
    }
    ASSERT_TRUE(prompt.EndPrompt().ok());
    EXPECT_THAT(prompt.keys(), ElementsAreArray(whole.keys())) << piece;
  }
}

TEST(TokenStreamTest, AGeneratedTokenEqualToSsepChangesNothing) {
  PromptHasher prompt = Streamed({98, 1, 2, 3, 99, 4, 5, 6});
  ASSERT_TRUE(prompt.Append({98}).ok());  // first token of a block
  ASSERT_TRUE(prompt.Append({99}).ok());
  EXPECT_THAT(prompt.keys(),
              ElementsAreArray(Keys({Span({98, 1, 2, 3}), Dependent({99, 4, 5, 6, 98, 99})})));
}

TEST(TokenStreamTest, WithoutSpansIdsAreTokens) {
  const PromptHasher prompt = Streamed({98, 1, 2, 3, 99, 4}, {.block_tokens = 4, .spans = false});
  EXPECT_THAT(prompt.keys(), ElementsAreArray(Keys({Prefix({98, 1, 2, 3, 99, 4})})));
  EXPECT_TRUE(prompt.layout().ignored_spans());
  EXPECT_FALSE(Streamed({1, 98}, {.block_tokens = 4, .spans = false}).layout().ignored_spans());
}

TEST(TokenStreamTest, AStreamMayEndInASpanOnlyToPrefill) {
  EXPECT_THAT(
      HashStream(TestRoot(), {.block_tokens = 4}, kIds, {1, 2, 3, 4, 98}).status().message(),
      HasSubstr("may end in a span only"));
}

TEST(TokenStreamTest, EqualIdsAreRefused) {
  EXPECT_EQ(HashStream(TestRoot(), kBlocksOf4, {.ssep = 5, .pdep = 5}, {1}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cairn
