#include "libs/overlap/overlap_book.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "libs/base/rng.h"

namespace cairn {
namespace {

constexpr std::uint32_t kBlock = 16;

// A prompt as its blocks' contents; its keys are chained, as those of a prefix are.
struct Prompt {
  std::vector<int> blocks;
  std::uint32_t tokens = 0;  // 0: all blocks are full

  std::uint32_t Length() const {
    return tokens == 0 ? static_cast<std::uint32_t>(blocks.size()) * kBlock : tokens;
  }
};

struct Chain {
  std::vector<Key> keys;
  std::vector<std::uint32_t> ends;
};

Chain ChainOf(const Prompt& prompt) {
  Chain chain;
  std::string text;
  for (std::size_t i = 0; i < prompt.blocks.size(); ++i) {
    absl::StrAppend(&text, prompt.blocks[i], ",");
    chain.keys.push_back(Sha256Of(text));
    chain.ends.push_back(std::min(static_cast<std::uint32_t>(i + 1) * kBlock, prompt.Length()));
  }
  return chain;
}

Root RootOf(int number) { return Sha256Of(absl::StrCat("root ", number)); }

Overlap Observe(OverlapBook& book, const Prompt& prompt, int root = 1) {
  const Chain chain = ChainOf(prompt);
  const Overlap overlap = book.Observe(RootOf(root), chain.keys, chain.ends, prompt.Length());
  book.CheckInvariants();
  return overlap;
}

OverlapBook LargeBook() { return OverlapBook(1 << 20, 7); }

TEST(OverlapBookTest, APromptLikeNoOtherHasNothingInCommon) {
  OverlapBook book = LargeBook();
  const Overlap first = Observe(book, {{1, 2, 3, 4, 5}});
  EXPECT_NE(first.family, 0u);
  EXPECT_NE(first.request_entry, 0u);
  EXPECT_EQ(first.request_length, 5 * kBlock);
  EXPECT_EQ(first.entry, 0u);
  EXPECT_EQ(first.depth, 0u);
  const Overlap other = Observe(book, {{9, 2, 3, 4, 5}});
  EXPECT_NE(other.family, first.family);
  EXPECT_EQ(other.depth, 0u);
}

TEST(OverlapBookTest, TellsWherePromptsPartAndFromWhom) {
  OverlapBook book = LargeBook();
  const Overlap first = Observe(book, {{1, 2, 3, 4, 5, 6, 7}});
  const Overlap second = Observe(book, {{1, 2, 3, 4, 5, 16}});
  EXPECT_EQ(second.family, first.family);
  EXPECT_EQ(second.entry, first.request_entry);
  EXPECT_EQ(second.entry_length, 7 * kBlock);
  EXPECT_EQ(second.depth, 5 * kBlock);
  // Of two that agree as far, the later one.
  const Overlap third = Observe(book, {{1, 2, 3, 4, 5, 26}});
  EXPECT_EQ(third.entry, second.request_entry);
  EXPECT_EQ(third.depth, 5 * kBlock);
  // Of two that agree, the one that does further.
  const Overlap fourth = Observe(book, {{1, 2, 3, 4, 5, 6, 8}});
  EXPECT_EQ(fourth.entry, first.request_entry);
  EXPECT_EQ(fourth.depth, 6 * kBlock);
  const std::set<std::uint64_t> entries = {first.request_entry, second.request_entry,
                                           third.request_entry, fourth.request_entry};
  EXPECT_EQ(entries.size(), 4u);
}

TEST(OverlapBookTest, APromptThatEndsInsideAnotherOrGoesOnBehindIt) {
  OverlapBook book = LargeBook();
  const Overlap all = Observe(book, {{1, 2, 3, 4, 5, 6}});
  const Overlap head = Observe(book, {{1, 2, 3, 4, 5}});
  EXPECT_EQ(head.depth, 5 * kBlock);
  EXPECT_EQ(head.entry, all.request_entry);
  const Overlap again = Observe(book, {{1, 2, 3, 4, 5}});
  EXPECT_EQ(again.depth, 5 * kBlock);
  EXPECT_EQ(again.entry, head.request_entry);
  const Overlap longer = Observe(book, {{1, 2, 3, 4, 5, 6, 7, 8}});
  EXPECT_EQ(longer.depth, 6 * kBlock);
  EXPECT_EQ(longer.entry, all.request_entry);
  EXPECT_EQ(longer.entry_length, 6 * kBlock);
}

TEST(OverlapBookTest, ALastBlockThatIsNotFullCountsItsTokens) {
  OverlapBook book = LargeBook();
  const Prompt ragged = {{1, 2, 3, 4, 50}, 4 * kBlock + 3};
  Observe(book, ragged);
  EXPECT_EQ(Observe(book, ragged).depth, 4 * kBlock + 3);
  EXPECT_EQ(Observe(book, {{1, 2, 3, 4, 5}}).depth, 4 * kBlock);
}

TEST(OverlapBookTest, RootsShareNothing) {
  OverlapBook book = LargeBook();
  const Prompt prompt = {{1, 2, 3, 4, 5}};
  const Overlap one = Observe(book, prompt, 1);
  const Overlap two = Observe(book, prompt, 2);
  EXPECT_NE(one.family, two.family);
  EXPECT_EQ(two.depth, 0u);
  EXPECT_EQ(Observe(book, prompt, 1).entry, one.request_entry);
}

TEST(OverlapBookTest, AFamilyIsItsFirstTokens) {
  OverlapBook book = LargeBook();
  static_assert(OverlapBook::kFamilyTokens == 4 * kBlock);
  const Overlap one = Observe(book, {{1, 2, 3, 4, 5}});
  EXPECT_EQ(Observe(book, {{1, 2, 3, 4, 6}}).family, one.family);
  EXPECT_NE(Observe(book, {{1, 2, 3, 5, 5}}).family, one.family);
}

TEST(OverlapBookTest, TwoBooksNumberEntriesDifferently) {
  OverlapBook one(1 << 20, 1), two(1 << 20, 2);
  std::set<std::uint64_t> entries;
  for (int i = 0; i < 100; ++i) {
    entries.insert(Observe(one, {{1, 2, 3, 4, i}}).request_entry);
    entries.insert(Observe(two, {{1, 2, 3, 4, i}}).request_entry);
  }
  EXPECT_EQ(entries.size(), 200u);
}

TEST(OverlapBookTest, NothingIsKeptOfAPromptWithoutKeysOrWithTooMany) {
  OverlapBook book(OverlapBook::kBlocksMin, 7);
  EXPECT_EQ(Observe(book, {{}}), Overlap());
  EXPECT_EQ(Observe(book, {std::vector<int>(OverlapBook::kBlocksMin / 2 + 1, 3)}), Overlap());
  EXPECT_EQ(book.size().nodes, 0u);
  EXPECT_NE(Observe(book, {std::vector<int>(OverlapBook::kBlocksMin / 2, 3)}), Overlap());
}

TEST(OverlapBookTest, WhatIsForgottenIsCensoredAndTheRestGoesOn) {
  OverlapBook book(OverlapBook::kBlocksMin, 7);
  std::vector<int> tail(200);
  for (int i = 0; i < 200; ++i) tail[static_cast<std::size_t>(i)] = 1000 + i;
  Prompt old = {{1, 2, 3, 4, 5}};
  Observe(book, old);
  Prompt long_one = old;
  long_one.blocks.insert(long_one.blocks.end(), tail.begin(), tail.end());
  const Overlap before = Observe(book, long_one);
  // The head is used all the time, its long end is not.
  for (int i = 0; i < 5; ++i) {
    Prompt other = old;
    for (int j = 0; j < 150; ++j) other.blocks.push_back(10'000 * (i + 1) + j);
    EXPECT_EQ(Observe(book, other).depth, 5 * kBlock);
  }
  EXPECT_GT(book.size().stubs, 0u);
  const Overlap after = Observe(book, long_one);
  EXPECT_TRUE(after.is_censored);
  EXPECT_EQ(after.entry, before.request_entry);
  EXPECT_EQ(after.depth, 6 * kBlock) << "the stub's block is known";
  const Overlap again = Observe(book, long_one);
  EXPECT_FALSE(again.is_censored);
  EXPECT_EQ(again.depth, long_one.blocks.size() * kBlock);
  EXPECT_EQ(again.entry, after.request_entry);
}

TEST(OverlapBookTest, APromptThatEndsWithAStubIsNotCensored) {
  OverlapBook book(OverlapBook::kBlocksMin, 7);
  std::vector<int> blocks = {1, 2, 3, 4, 5};
  Prompt long_one = {blocks};
  for (int j = 0; j < 200; ++j) long_one.blocks.push_back(500 + j);
  Observe(book, {blocks});
  Observe(book, long_one);
  for (int i = 1; book.size().stubs == 0; ++i) {
    Prompt other = {blocks};
    for (int j = 0; j < 150; ++j) other.blocks.push_back(10'000 * i + j);
    Observe(book, other);
  }
  Prompt to_the_stub = {blocks};
  to_the_stub.blocks.push_back(500);
  const Overlap overlap = Observe(book, to_the_stub);
  EXPECT_EQ(overlap.depth, 6 * kBlock);
  EXPECT_FALSE(overlap.is_censored);
}

// Random prompts that share heads, against all earlier prompts one by one.
class AgainstAllTest : public testing::TestWithParam<int> {};

std::size_t AgreedBlocks(const Prompt& a, const Prompt& b) {
  const auto ends =
      std::mismatch(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end());
  return static_cast<std::size_t>(ends.first - a.blocks.begin());
}

Prompt RandomPrompt(Rng& rng, const std::vector<Prompt>& earlier) {
  Prompt prompt;
  if (!earlier.empty() && rng.Chance(3, 4)) {
    prompt = earlier[rng.Below(earlier.size())];
    prompt.blocks.resize(rng.Between(1, prompt.blocks.size()));
  }
  const std::uint64_t more = rng.Below(12) + (prompt.blocks.empty() ? 1 : 0);
  for (std::uint64_t i = 0; i < more; ++i) {
    prompt.blocks.push_back(static_cast<int>(rng.Below(3)));
  }
  return prompt;
}

TEST_P(AgainstAllTest, EqualsTheSlowReference) {
  const auto seed = static_cast<std::uint64_t>(GetParam());
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  Rng rng(seed);
  // Small books forget; large ones do not.
  const bool is_small = seed % 2 == 1;
  OverlapBook book(is_small ? OverlapBook::kBlocksMin : 1 << 20, seed);
  std::vector<Prompt> earlier;
  std::vector<Overlap> overlaps;
  std::size_t exact = 0, censored = 0;
  for (int i = 0; i < 400; ++i) {
    const Prompt prompt = RandomPrompt(rng, earlier);
    const Overlap overlap = Observe(book, prompt);
    std::size_t agreed = 0, latest = 0;
    for (std::size_t j = 0; j < earlier.size(); ++j) {
      // Less than a family's tokens in common, and of another family: nothing.
      if (overlaps[j].family != overlap.family) continue;
      if (AgreedBlocks(prompt, earlier[j]) < agreed) continue;
      agreed = AgreedBlocks(prompt, earlier[j]);
      latest = j;
    }
    if (overlap.depth == agreed * kBlock && !overlap.is_censored) {
      ++exact;
      ASSERT_EQ(overlap.entry, agreed == 0 ? 0 : overlaps[latest].request_entry) << i;
    } else {
      ASSERT_TRUE(is_small) << i;
      ASSERT_LE(overlap.depth, agreed * kBlock) << i;
    }
    if (overlap.depth > 0) {
      const auto entry = std::find_if(overlaps.begin(), overlaps.end(), [&](const Overlap& other) {
        return other.request_entry == overlap.entry;
      });
      ASSERT_NE(entry, overlaps.end()) << i;
      const Prompt& met = earlier[static_cast<std::size_t>(entry - overlaps.begin())];
      ASSERT_GE(AgreedBlocks(prompt, met) * kBlock, overlap.depth) << "invariant 1, " << i;
      ASSERT_EQ(overlap.entry_length, met.Length()) << i;
    }
    censored += overlap.is_censored ? 1 : 0;
    earlier.push_back(prompt);
    overlaps.push_back(overlap);
  }
  if (is_small) {
    EXPECT_GT(book.size().stubs, 0u);
    EXPECT_GT(censored, 0u);
  } else {
    EXPECT_EQ(exact, 400u);
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, AgainstAllTest, testing::Range(1, 41));

}  // namespace
}  // namespace cairn
