#include "libs/span/prompt_hasher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/span/prompts.h"
#include "tests/unit/span/slow_prompt.h"

namespace cairn {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using Tokens = std::vector<Token>;

const Tokens kA = {10, 11, 12, 13, 14, 15};
const Tokens kB = {20, 21, 22, 23};
const Tokens kC = {30, 31, 32, 33, 34, 35};
const Tokens kQ = {1, 2, 3, 4, 5, 6};

// How many of the keys of `a` are among those of `b`.
std::size_t Shared(const std::vector<Key>& a, const std::vector<Key>& b) {
  const std::set<Key> known(b.begin(), b.end());
  return std::count_if(a.begin(), a.end(), [&](const Key& key) { return known.contains(key); });
}

TEST(PromptHasherTest, EqualsTheSlowReference) {
  Rng rng(7);
  for (int i = 0; i < 3000; ++i) {
    const std::vector<PromptSegment> segments = slow::RandomSegments(rng);
    const std::uint32_t block_tokens = static_cast<std::uint32_t>(rng.Between(1, 5));
    PromptHasher prompt = Hashed(segments, block_tokens);
    const slow::Prompt reference = slow::Read(segments, block_tokens);
    const Root root = TestRoot("salt", block_tokens);
    ASSERT_THAT(prompt.keys(), ElementsAreArray(slow::Keys(reference, root))) << i;
    ASSERT_THAT(prompt.Digests(), ElementsAreArray(slow::Digests(reference, root))) << i;
  }
}

TEST(PromptHasherTest, LayoutEqualsTheSlowReference) {
  Rng rng(8);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<PromptSegment> segments = slow::RandomSegments(rng);
    const PromptHasher prompt = Hashed(segments, 3);
    const slow::Prompt reference = slow::Read(segments, 3);
    for (std::size_t b = 0; b < prompt.layout().blocks().size(); ++b) {
      const PromptBlock& block = prompt.layout().blocks()[b];
      const slow::Fact& fact = reference.facts[block.first_token];
      ASSERT_EQ(block.first_token, reference.block_starts[b]);
      ASSERT_EQ(block.depth(), reference.block_starts[b + 1]);
      ASSERT_EQ(block.position, fact.position);
      ASSERT_EQ(block.segment, fact.group);
      ASSERT_EQ(block.chain_depth, block.depth() - fact.group_start);
      ASSERT_EQ(prompt.layout().segments()[block.segment].kind, fact.kind);
    }
  }
}

TEST(PromptHasherTest, AnotherDocumentChangesTheQuestionsKeys) {
  const std::vector<Key> first = Keys({Span(kA), Span(kB), Dependent(kQ)});
  const std::vector<Key> second = Keys({Span(kC), Span(kB), Dependent(kQ)});
  EXPECT_EQ(Shared(first, second), 1u) << "only B's block";
  EXPECT_EQ(first[2], second[2]);
}

TEST(PromptHasherTest, SwappedDocumentsAreSharedButNotTheQuestion) {
  EXPECT_EQ(
      Shared(Keys({Span(kA), Span(kB), Dependent(kQ)}), Keys({Span(kB), Span(kA), Dependent(kQ)})),
      3u);
}

TEST(PromptHasherTest, APrefixAndASpanOfTheSameTokensShareKeys) {
  EXPECT_EQ(Keys({Prefix(kA)}), Keys({Span(kA)}));
  EXPECT_EQ(Shared(Keys({Prefix(kB), Span(kA), Prefix(kQ)}), Keys({Prefix(kA)})), 2u);
}

TEST(PromptHasherTest, TheSameSpanTwiceHasTheSameKeysTwice) {
  const std::vector<Key> keys = Keys({Span(kB), Span(kB), Dependent(kQ)});
  EXPECT_EQ(keys[0], keys[1]);
}

TEST(PromptHasherTest, TwoSaltsShareNothing) {
  const std::vector<PromptSegment> prompt = {Prefix(kA), Span(kB), Dependent(kQ)};
  const PromptOptions options = {.block_tokens = 4};
  const PromptHasher one = HashPrompt(TestRoot("one"), options, prompt).value();
  const PromptHasher two = HashPrompt(TestRoot("two"), options, prompt).value();
  EXPECT_EQ(Shared({one.keys().begin(), one.keys().end()}, {two.keys().begin(), two.keys().end()}),
            0u);
}

TEST(PromptHasherTest, MovingOneTokenAcrossABlockBorderChangesKeys) {
  EXPECT_EQ(Shared(Keys({Span({1, 2, 3, 4}), Span({5, 6, 7, 8})}),
                   Keys({Span({1, 2, 3}), Span({4, 5, 6, 7, 8})})),
            0u);
  EXPECT_EQ(Shared(Keys({Prefix({1, 2, 3, 4, 5})}, 4), Keys({Prefix({1, 2, 3, 4, 5})}, 3)), 0u);
}

TEST(PromptHasherTest, OrderRaggednessAndExtrasChangeKeys) {
  const std::vector<Key> plain = Keys({Span({1, 2, 3, 4, 5})});
  EXPECT_EQ(Shared(plain, Keys({Span({1, 2, 4, 3, 5})})), 0u);
  EXPECT_EQ(Shared(plain, Keys({Span({1, 2, 3, 4, 5, 0})})), 1u);
  EXPECT_EQ(Shared(plain, Keys({Span({1, 2, 3, 4, 5}, {}, {{4, 1, "h"}})})), 1u);
  EXPECT_EQ(Shared(plain, Keys({Span({1, 2, 3, 4, 5}, {}, {{0, 1, "h"}})})), 0u);
  EXPECT_EQ(Shared(Keys({Span({1, 2, 3}, {}, {{0, 1, "h"}})}),
                   Keys({Span({1, 2, 3}, {}, {{0, 2, "h"}})})),
            0u);
  EXPECT_EQ(Shared(Keys({Span({1, 2, 3}, {}, {{0, 1, "h"}})}),
                   Keys({Span({1, 2, 3}, {}, {{1, 1, "h"}})})),
            0u);
  EXPECT_EQ(Shared(Keys({Span({1, 2, 3}, {}, {{0, 1, "h"}})}),
                   Keys({Span({1, 2, 3}, {}, {{0, 1, "i"}})})),
            0u);
}

TEST(PromptHasherTest, KindsAndBasesBeforeADependentSegmentChangeItsKeys) {
  const std::vector<PromptSegment> variants[] = {
      {Prefix(kB), Span(kA), Dependent(kQ)},     {Span(kB), Span(kA), Dependent(kQ)},
      {Prefix(kB), Span(kA, 70), Dependent(kQ)}, {Prefix(kB, 3), Span(kA), Dependent(kQ)},
      {Prefix(kB), Span(kA), Dependent(kQ, 70)}, {Prefix(kB), Span(kA, 0), Dependent(kQ, 10)},
      {Prefix(kB), Prefix(kA), Span(kQ)},
  };
  std::set<Key> last_keys;
  for (const std::vector<PromptSegment>& variant : variants) {
    EXPECT_TRUE(last_keys.insert(Keys(variant).back()).second);
  }
}

TEST(PromptHasherTest, ASpansBaseNeverChangesItsOwnKeys) {
  EXPECT_EQ(Keys({Span(kA)}), Keys({Span(kA, 4000)}));
  const std::vector<Key> moved = Keys({Prefix(kB), Span(kA, 4000)});
  EXPECT_EQ(moved, Keys({Prefix(kB), Span(kA)}));
}

TEST(PromptHasherTest, APrefixCutAnywhereHasTheSameKeys) {
  const Tokens tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<Key> whole = Keys({Prefix(tokens, {}, {{1, 7, "h"}})});
  for (std::size_t cut = 0; cut <= tokens.size(); ++cut) {
    const Tokens head(tokens.begin(), tokens.begin() + cut);
    const Tokens tail(tokens.begin() + cut, tokens.end());
    EXPECT_EQ(Keys({Prefix(tokens)}), Keys({Prefix(head), Dependent(tail)})) << cut;
    if (cut <= 1) {
      const Extra moved = {static_cast<std::uint32_t>(1 - cut), 7, "h"};
      EXPECT_EQ(whole, Keys({Prefix(head), Prefix(tail, {}, {moved})})) << cut;
    }
  }
}

TEST(PromptHasherTest, TheNextTurnOfAChatFindsWhatWasGenerated) {
  PromptHasher turn =
      HashPrompt(TestRoot(), {.block_tokens = 4}, {Span(kA), Dependent(kQ)}).value();
  for (Token token : {40, 41, 42, 43, 44}) ASSERT_TRUE(turn.Append({token}).ok());
  Tokens history = kQ;
  history.insert(history.end(), {40, 41, 42, 43, 44});
  const std::vector<Key> next = Keys({Span(kA), Dependent(history), Dependent({50, 51, 52, 53})});
  for (std::size_t i = 0; i < turn.keys().size(); ++i) {
    if (turn.layout().IsRagged(i)) continue;
    EXPECT_EQ(turn.keys()[i], next[i]) << i;
  }
}

TEST(PromptHasherTest, AKeyIsFinalOnceItsBlockIsClosed) {
  PromptHasher prompt(TestRoot(), {.block_tokens = 4});
  ASSERT_TRUE(prompt.Append({1, 2, 3}).ok());
  EXPECT_FALSE(prompt.layout().IsClosed(0));
  const Key open = prompt.keys()[0];
  ASSERT_TRUE(prompt.Append({4}).ok());
  EXPECT_TRUE(prompt.layout().IsClosed(0));
  const Key closed = prompt.keys()[0];
  EXPECT_NE(open, closed);
  ASSERT_TRUE(prompt.Append({5}).ok());
  EXPECT_EQ(prompt.keys()[0], closed);
}

TEST(PromptHasherTest, StateKeysAreTheHashesOfTheDigests) {
  PromptHasher prompt = Hashed({Prefix(kA), Span(kB), Dependent(kQ)});
  const std::vector<Key> states = prompt.StateKeys();
  ASSERT_EQ(states.size(), prompt.Digests().size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    EXPECT_EQ(states[i], StateKeyOf(prompt.Digests()[i]));
  }
}

TEST(PromptHasherTest, AnErrorKeepsWhatWasHashed) {
  PromptHasher prompt(TestRoot(), {.block_tokens = 4, .positions_max = 5});
  ASSERT_TRUE(prompt.Append({1, 2, 3, 4, 5}).ok());
  EXPECT_FALSE(prompt.Append({6}).ok());
  EXPECT_THAT(prompt.keys(), ElementsAreArray(Keys({Prefix({1, 2, 3, 4, 5})})));
}

// Hashes `segments` token by token, cutting calls where `cuts` has a bit, and looks at keys and
// digests in between, so that what an early look computes must not stick.
PromptHasher Streamed(const std::vector<PromptSegment>& segments, std::uint32_t block_tokens,
                      std::uint64_t cuts, bool looks_at_digests) {
  PromptHasher prompt(TestRoot("salt", block_tokens),
                      {.block_tokens = block_tokens, .prefill_only = true});
  for (const PromptSegment& segment : segments) {
    CAIRN_CHECK(prompt.BeginSegment(segment.head).ok());
    Tokens piece;
    for (Token token : segment.tokens) {
      piece.push_back(token);
      if (cuts & 1) {
        CAIRN_CHECK(prompt.Append(piece).ok());
        if (looks_at_digests) prompt.Digests();
        piece.clear();
      }
      cuts >>= 1;
    }
    CAIRN_CHECK(prompt.Append(piece).ok());
  }
  CAIRN_CHECK(prompt.EndPrompt().ok());
  return prompt;
}

TEST(PromptHasherTest, EverySplitGivesTheSameKeysAndDigests) {
  Rng rng(9);
  for (int i = 0; i < 60; ++i) {
    const std::vector<PromptSegment> segments = slow::RandomSegments(rng);
    const std::uint32_t block_tokens = static_cast<std::uint32_t>(rng.Between(1, 4));
    PromptHasher whole = Hashed(segments, block_tokens);
    const std::size_t tokens = whole.layout().tokens().size();
    if (tokens > 10) continue;
    for (std::uint64_t cuts = 0; cuts < (1u << tokens); ++cuts) {
      PromptHasher split = Streamed(segments, block_tokens, cuts, cuts % 2 == 0);
      ASSERT_THAT(split.keys(), ElementsAreArray(whole.keys())) << i << " " << cuts;
      ASSERT_THAT(split.Digests(), ElementsAreArray(whole.Digests())) << i << " " << cuts;
    }
  }
}

TEST(PromptHasherTest, EveryPlaceWhereGenerationBeginsGivesTheSameKeys) {
  const Tokens tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<Key> whole = Keys({Span(kB), Dependent(tokens)});
  for (std::size_t cut = 1; cut <= tokens.size(); ++cut) {
    const Tokens asked(tokens.begin(), tokens.begin() + cut);
    PromptHasher prompt =
        HashPrompt(TestRoot(), {.block_tokens = 4}, {Span(kB), Dependent(asked)}).value();
    for (std::size_t i = cut; i < tokens.size(); ++i) ASSERT_TRUE(prompt.Append({tokens[i]}).ok());
    EXPECT_THAT(prompt.keys(), ElementsAreArray(whole)) << cut;
  }
}

}  // namespace
}  // namespace cairn
