#include "libs/block/generation.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace cairn {
namespace {

TEST(GenerationTest, WordsLieAtTheStartOfTheSegmentOnePerSlot) {
  alignas(8) std::array<std::byte, 64> segment{};
  SlotWords words = SlotWords::Over(absl::MakeSpan(segment));
  EXPECT_EQ(words.size(), 8u);
  words.Start(4, kFirstGeneration);
  words.Advance(SlotId(2), Generation(7));
  const auto* raw = reinterpret_cast<const std::uint64_t*>(segment.data());
  EXPECT_EQ(raw[0], 1u);
  EXPECT_EQ(raw[2], 7u);
  EXPECT_EQ(raw[3], 1u);
  EXPECT_EQ(raw[4], 0u) << "beyond the slots that the segment has";
}

TEST(GenerationTest, ReaderNoticesEveryOtherGeneration) {
  std::array<std::atomic<std::uint64_t>, 4> table{};
  SlotWords words(absl::MakeSpan(table));
  const SlotWordsView view(absl::MakeConstSpan(table));
  words.Start(4, kFirstGeneration);
  EXPECT_TRUE(ReadCheck().Unchanged(view, SlotId(1), kFirstGeneration));
  words.Advance(SlotId(1), Generation(2));
  EXPECT_FALSE(ReadCheck().Unchanged(view, SlotId(1), kFirstGeneration));
  EXPECT_TRUE(ReadCheck().Unchanged(view, SlotId(1), Generation(2)));
  EXPECT_TRUE(ReadCheck().Unchanged(view, SlotId(0), kFirstGeneration)) << "another slot's word";
}

TEST(GenerationTest, SlotBeyondTheTableHasChanged) {
  std::array<std::atomic<std::uint64_t>, 2> table{};
  const SlotWordsView view(absl::MakeConstSpan(table));
  EXPECT_FALSE(ReadCheck().Unchanged(view, SlotId(2), Generation(0)));
  EXPECT_FALSE(ReadCheck().Unchanged(SlotWordsView(), SlotId(0), Generation(0)));
}

// A writer rewrites one slot all the time; readers are told its generation after each rewrite is
// complete, read the bytes as slowly as they like, and must never accept a mix.
TEST(GenerationTest, AcceptedReadIsOfOneGenerationWhileTheSlotIsRewritten) {
  constexpr std::uint64_t kRewrites = 20000;
  std::array<std::atomic<std::uint64_t>, 1> table{};
  std::array<std::atomic<std::uint64_t>, 64> bytes{};  // atomic: TSan cannot know the protocol
  std::atomic<std::uint64_t> told{0};
  std::atomic<bool> stop{false};
  SlotWords words(absl::MakeSpan(table));
  const SlotWordsView view(absl::MakeConstSpan(table));

  std::atomic<std::uint64_t> mixes{0};
  auto read = [&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const std::uint64_t generation = told.load(std::memory_order_acquire);
      std::uint64_t others = 0;
      for (const auto& b : bytes) {
        if (b.load(std::memory_order_relaxed) != generation) ++others;
      }
      if (ReadCheck().Unchanged(view, SlotId(0), Generation(generation)) && others != 0) ++mixes;
    }
  };
  std::thread first(read);
  std::thread second(read);
  for (std::uint64_t g = 1; g <= kRewrites; ++g) {
    words.Advance(SlotId(0), Generation(g));
    for (auto& b : bytes) b.store(g, std::memory_order_relaxed);
    told.store(g, std::memory_order_release);
  }
  stop.store(true);
  first.join();
  second.join();
  EXPECT_EQ(mixes.load(), 0u);
  EXPECT_TRUE(ReadCheck().Unchanged(view, SlotId(0), Generation(kRewrites)));
}

}  // namespace
}  // namespace cairn
