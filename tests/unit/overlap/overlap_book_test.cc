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

// Prompts of a family that nobody asks for, until the book has forgotten what came before.
void FillWithOthers(OverlapBook& book, int first, int root = 1) {
  for (int i = 0; i < 40; ++i) {
    Prompt other = {{first + i, 2, 3, 4}};
    for (int j = 0; j < 60; ++j) other.blocks.push_back(1000 * (first + i) + j);
    Observe(book, other, root);
  }
}

Prompt LongPrompt(int blocks, int first = 500) {
  Prompt prompt = {{1, 2, 3, 4, 5}};
  for (int j = 0; j < blocks; ++j) prompt.blocks.push_back(first + j);
  return prompt;
}

TEST(OverlapBookTest, WhatIsForgottenIsCensored) {
  OverlapBook book(OverlapBook::kBlocksMin, 7);
  const Prompt head = LongPrompt(0);
  Observe(book, head);
  const Prompt old = LongPrompt(200);
  Observe(book, old);
  // The head is used all the time, its long end is not.
  for (int i = 1; i < 10; ++i) {
    const Overlap other = Observe(book, LongPrompt(150, 10'000 * i));
    EXPECT_EQ(other.depth, 5 * kBlock);
    EXPECT_FALSE(other.is_censored) << "nobody has been there before";
  }
  const Overlap back = Observe(book, old);
  EXPECT_EQ(back.depth, 5 * kBlock);
  EXPECT_TRUE(back.is_censored);
  const Overlap again = Observe(book, old);
  EXPECT_EQ(again.depth, 205 * kBlock);
  EXPECT_EQ(again.entry, back.request_entry);
  EXPECT_FALSE(again.is_censored);
}

TEST(OverlapBookTest, WhatStoodBehindAForgottenPromptIsInDoubtForAWhile) {
  OverlapBook book(OverlapBook::kBlocksMin, 7);
  Observe(book, LongPrompt(200));
  FillWithOthers(book, 100);
  EXPECT_TRUE(Observe(book, LongPrompt(20)).is_censored) << "its family is forgotten";
  // Back again, but not how it went on: for some time, what goes on may have been here.
  Overlap longer = Observe(book, LongPrompt(200));
  EXPECT_EQ(longer.depth, 25 * kBlock);
  EXPECT_TRUE(longer.is_censored);
  for (int i = 0; i < 20; ++i) {
    Prompt other = LongPrompt(20);
    other.blocks.push_back(9000 + i);
    longer = Observe(book, other);
    EXPECT_EQ(longer.depth, 25 * kBlock);
  }
  EXPECT_FALSE(longer.is_censored) << "in the end it is taken to be new";
}

TEST(OverlapBookTest, AForgottenFamilyIsCensored) {
  OverlapBook book(OverlapBook::kBlocksMin, 7);
  const Prompt old = LongPrompt(10);
  Observe(book, old);
  FillWithOthers(book, 100);
  const Overlap back = Observe(book, old);
  EXPECT_EQ(back.depth, 0u);
  EXPECT_TRUE(back.is_censored);
  EXPECT_FALSE(Observe(book, {{77, 2, 3, 4, 5}}).is_censored);
}

TEST(OverlapBookTest, ARootThatFloodsForgetsItsOwn) {
  OverlapBook book(OverlapBook::kBlocksMin, 7);
  const Prompt mine = LongPrompt(100);
  Observe(book, mine, 1);
  for (int i = 0; i < 5; ++i) FillWithOthers(book, 100 + 40 * i, 2);
  EXPECT_EQ(book.size().roots, 2u);
  EXPECT_EQ(Observe(book, mine, 1).depth, 105 * kBlock);
}

TEST(OverlapBookTest, APromptThatPartsAllTheTimeIsNotFollowedForEver) {
  OverlapBook book(1 << 20, 7);
  const int blocks = static_cast<int>(OverlapBook::kPathNodesMax) + 50;
  for (int i = blocks; i > 0; --i) Observe(book, LongPrompt(i));
  const Overlap deep = Observe(book, LongPrompt(blocks));
  EXPECT_TRUE(deep.is_censored);
  EXPECT_LT(deep.depth, blocks * kBlock);
  EXPECT_GE(deep.depth, OverlapBook::kPathNodesMax * kBlock);
  const std::size_t nodes = book.size().nodes;
  Prompt other = LongPrompt(blocks);
  other.blocks.push_back(7);
  EXPECT_TRUE(Observe(book, other).is_censored);
  EXPECT_EQ(book.size().nodes, nodes) << "nothing is kept of it there";
}

TEST(OverlapBookTest, LiesAboutEndsDoNotMakeNumbersThatContradictEachOther) {
  OverlapBook book = LargeBook();
  Chain chain = ChainOf(LongPrompt(5));
  book.Observe(RootOf(1), chain.keys, {16, 32, 48, 64, 80, 96, 112, 128, 144, 160}, 160);
  std::vector<std::uint32_t> ends = {1, 2, 3, 64, 65, 66, 67, 68, 69, 70};
  Overlap overlap = book.Observe(RootOf(1), chain.keys, ends, 70);
  EXPECT_EQ(overlap.depth, 70u) << "as its own blocks end";
  overlap = book.Observe(RootOf(1), chain.keys, {16, 32, 48, 64, 80, 96, 112, 128, 144, 160}, 160);
  EXPECT_EQ(overlap.depth, 70u) << "no more than the entry has";
  EXPECT_EQ(overlap.entry_length, 70u);
}

TEST(OverlapBookTest, ManyEndsThatGoOutOfUseAreForgottenBitByBit) {
  OverlapBook book(OverlapBook::kBlocksMin * 16, 7);
  for (int i = 0; i < 600; ++i) {
    Prompt end = LongPrompt(0);
    end.blocks.push_back(1000 + i);
    Observe(book, end);
  }
  std::size_t nodes = book.size().nodes;
  for (int i = 0; i < 200; ++i) {  // CheckInvariants sees that the bound holds all the time
    Observe(book, {{7'000'000 + i, 2, 3, 4, 5}});
    const std::size_t now = book.size().nodes;
    EXPECT_LE(nodes, now + 2) << "a call forgets little";
    nodes = now;
  }
  EXPECT_GT(book.size().blocks, OverlapBook::kBlocksMin * 16 * 9 / 10)
      << "and no more than it must";
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
  std::size_t exact = 0, censored = 0, short_of = 0, lost = 0;
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
    ASSERT_LE(overlap.depth, agreed * kBlock) << i;
    if (overlap.depth == agreed * kBlock) {
      ++exact;
      ASSERT_EQ(overlap.entry, agreed == 0 ? 0 : overlaps[latest].request_entry) << i;
    } else {
      ASSERT_TRUE(is_small) << i;
      ++short_of;
      lost += overlap.is_censored ? 0 : 1;  // another mark took the place of its own
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
    EXPECT_GT(short_of, 10u);
    EXPECT_LT(lost, short_of / 2) << "invariant 2";
  } else {
    EXPECT_EQ(exact, 400u);
    EXPECT_EQ(censored, 0u);
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, AgainstAllTest, testing::Range(1, 41));

}  // namespace
}  // namespace cairn
