#include "libs/node/acquire_cut.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn {
namespace {

// A prompt of `blocks` KV blocks of 16 tokens and states after those in `states` (1-based).
struct Prompt {
  std::vector<EntryKind> kinds;
  std::vector<wire::Descriptor> hits;
};
Prompt MakePrompt(int blocks, const std::vector<int>& missing, const std::vector<int>& states) {
  Prompt prompt;
  for (int i = 0; i < blocks; ++i) {
    prompt.kinds.push_back(EntryKind::kKvBlock);
    if (std::find(missing.begin(), missing.end(), i) != missing.end()) continue;
    prompt.hits.push_back(
        {.index = static_cast<std::uint32_t>(i), .depth = static_cast<std::uint64_t>(i + 1) * 16});
  }
  for (const int after : states) {
    prompt.hits.push_back({.index = static_cast<std::uint32_t>(prompt.kinds.size()),
                           .depth = static_cast<std::uint64_t>(after) * 16});
    prompt.kinds.push_back(EntryKind::kState);
  }
  return prompt;
}
Cut CutOf(const Prompt& prompt, CutRequest request) {
  request.block_tokens = 16;
  return ChooseCut(request, prompt.kinds, prompt.hits);
}

TEST(AcquireCutTest, PlainKeepsAllHitsWithHoles) {
  const Cut cut = CutOf(MakePrompt(5, {1, 3}, {}), {.budget = 10});
  EXPECT_EQ(cut.kept, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(cut.capped, 0u);
}

TEST(AcquireCutTest, PlainStopsAtTheBudgetInPromptOrder) {
  const Cut cut = CutOf(MakePrompt(5, {}, {}), {.budget = 2});
  EXPECT_EQ(cut.kept, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(cut.capped, 3u);
}

TEST(AcquireCutTest, HybridTakesTheDeepestStateWithAllKvBefore) {
  const Prompt prompt = MakePrompt(6, {4}, {2, 4, 5});
  const Cut cut = CutOf(prompt, {.is_hybrid = true, .resume_depth_max = 1000, .budget = 100});
  EXPECT_EQ(cut.resume_depth, 64u) << "the state at 80 lacks block 4";
  // Hits: blocks 0 to 3 and 5, then the states; kept: blocks 0 to 3 and the state at 64.
  EXPECT_EQ(cut.kept, (std::vector<std::uint32_t>{0, 1, 2, 3, 6}));
}

TEST(AcquireCutTest, HybridNeverExceedsTheAskedDepth) {
  const Cut cut =
      CutOf(MakePrompt(4, {}, {2, 4}), {.is_hybrid = true, .resume_depth_max = 63, .budget = 100});
  EXPECT_EQ(cut.resume_depth, 32u);
  EXPECT_EQ(cut.kept.size(), 3u);
}

TEST(AcquireCutTest, HybridWithoutAStateKeepsNothing) {
  const Cut cut =
      CutOf(MakePrompt(4, {}, {}), {.is_hybrid = true, .resume_depth_max = 1000, .budget = 100});
  EXPECT_EQ(cut.resume_depth, 0u);
  EXPECT_TRUE(cut.kept.empty());
}

TEST(AcquireCutTest, HybridWithoutTheFirstBlockKeepsNothing) {
  const Cut cut =
      CutOf(MakePrompt(4, {0}, {2}), {.is_hybrid = true, .resume_depth_max = 1000, .budget = 100});
  EXPECT_TRUE(cut.kept.empty());
}

TEST(AcquireCutTest, HybridPassesOverADepthThatExceedsTheBudget) {
  const Cut cut =
      CutOf(MakePrompt(4, {}, {1, 4}), {.is_hybrid = true, .resume_depth_max = 1000, .budget = 3});
  EXPECT_EQ(cut.resume_depth, 16u);
  EXPECT_EQ(cut.kept.size(), 2u);
  EXPECT_GT(cut.capped, 0u);
}

}  // namespace
}  // namespace cairn
