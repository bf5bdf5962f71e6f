#include "libs/device_cuda/device_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "libs/base/rng.h"

namespace cairn {
namespace {

constexpr std::size_t kBlockBytes = 16;

class DeviceBlocksTest : public testing::Test {
 protected:
  DeviceBlocksTest() { blocks_.UsePool(memory_, takes_); }
  const std::byte* Block(std::size_t i) { return memory_.data() + i * kBlockBytes; }
  // Begins a step with these blocks of the pool; the numbers of those that are loaded, sorted.
  std::vector<std::size_t> Loaded(const std::vector<std::size_t>& wanted) {
    std::vector<DeviceBlocks::Wanted> list;
    for (const std::size_t i : wanted) list.push_back({.block = Block(i)});
    std::vector<std::size_t> loaded;
    for (const DeviceBlocks::Load& load : blocks_.Begin(list)) {
      EXPECT_EQ(load.slot, blocks_.SlotOf(load.block));
      loaded.push_back(static_cast<std::size_t>(load.block - memory_.data()) / kBlockBytes);
    }
    std::sort(loaded.begin(), loaded.end());
    return loaded;
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kBlockBytes * 16);
  std::vector<std::uint64_t> takes_ = std::vector<std::uint64_t>(16);
  DeviceBlocks blocks_{kBlockBytes};
};

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(DeviceBlocksTest, ABlockOfThePoolIsLoadedOnceForEachTake) {
  EXPECT_THAT(Loaded({1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(Loaded({2, 1}), IsEmpty());
  takes_[2] = 1;
  EXPECT_THAT(Loaded({1, 2}), ElementsAre(2));
  EXPECT_THAT(Loaded({1, 2}), IsEmpty());
}

TEST_F(DeviceBlocksTest, BlocksOutsideOfThePoolAreLoadedInEveryStep) {
  std::vector<std::byte> arena(kBlockBytes);
  for (int step = 0; step < 3; ++step) {
    const DeviceBlocks::Wanted wanted[] = {{.block = arena.data()}, {.block = Block(3)}};
    const auto loads = blocks_.Begin(wanted);
    ASSERT_EQ(loads.size(), step == 0 ? 2u : 1u);
    EXPECT_EQ(blocks_.SlotOf(arena.data()) == blocks_.SlotOf(Block(3)), false);
  }
  blocks_.UsePool({}, {});  // and all of them without a pool
  EXPECT_THAT(Loaded({3}), ElementsAre(3));
  EXPECT_THAT(Loaded({3}), ElementsAre(3));
}

TEST_F(DeviceBlocksTest, AddressesThatAreNoBlocksOfThePoolDoNotStay) {
  blocks_.UsePool(memory_, absl::MakeConstSpan(takes_).first(4));
  const DeviceBlocks::Wanted odd[] = {{.block = Block(1) + 1}, {.block = Block(4)}};
  EXPECT_EQ(blocks_.Begin(odd).size(), 2u);
  EXPECT_EQ(blocks_.Begin(odd).size(), 2u);
}

TEST_F(DeviceBlocksTest, WhatAStepStoresWholeIsNotLoaded) {
  const DeviceBlocks::Wanted stored[] = {{.block = Block(5), .is_new = true}};
  EXPECT_TRUE(blocks_.Begin(stored).empty());
  EXPECT_THAT(Loaded({5}), IsEmpty());
  takes_[5] = 7;
  EXPECT_TRUE(blocks_.Begin(stored).empty());
  EXPECT_THAT(Loaded({5}), IsEmpty());
}

TEST_F(DeviceBlocksTest, TheLongestUnusedMakesRoom) {
  Loaded({0, 1, 2, 3});
  EXPECT_EQ(blocks_.capacity(), 4u);
  Loaded({0});
  Loaded({2});
  EXPECT_THAT(Loaded({4}), ElementsAre(4));  // in the place of 1, used like 3, but before it
  EXPECT_THAT(Loaded({0, 2, 3, 4}), IsEmpty());
  EXPECT_THAT(Loaded({1}), ElementsAre(1));  // in the place of 0
  // 5 does not push out 2, the oldest, which is of the step.
  EXPECT_THAT(Loaded({5, 2}), ElementsAre(5));
  EXPECT_THAT(Loaded({2, 4, 1, 5}), IsEmpty());
  EXPECT_EQ(blocks_.capacity(), 4u);
}

// A block of the arena under a version of it.
class ArenaBlocksTest : public DeviceBlocksTest {
 protected:
  ArenaBlocksTest() { blocks_.UseArena({Piece(1), Piece(0)}); }
  absl::Span<const std::byte> Piece(std::size_t i) const {
    return absl::MakeConstSpan(arena_).subspan(i * 6 * kBlockBytes, 4 * kBlockBytes);
  }
  // Whether block i of a piece is loaded by a step that wants it under `version`.
  bool IsLoaded(std::size_t piece, std::size_t i, std::uint64_t version) {
    const DeviceBlocks::Wanted wanted[] = {
        {.block = Piece(piece).data() + i * kBlockBytes, .version = version}};
    return blocks_.Begin(wanted).size() == 1;
  }

 private:
  std::vector<std::byte> arena_ = std::vector<std::byte>(12 * kBlockBytes);
};

TEST_F(ArenaBlocksTest, ABlockIsLoadedOnceForEachVersion) {
  blocks_.Reserve(8);
  for (const std::size_t piece : {0, 1}) {
    for (const std::size_t i : {0, 3}) {
      EXPECT_TRUE(IsLoaded(piece, i, 5));
      EXPECT_FALSE(IsLoaded(piece, i, 5));
      EXPECT_TRUE(IsLoaded(piece, i, 6));
      EXPECT_FALSE(IsLoaded(piece, i, 6));
    }
  }
  EXPECT_TRUE(IsLoaded(0, 0, 0)) << "of no version";
  EXPECT_TRUE(IsLoaded(0, 0, 6)) << "it held something else in between";
}

TEST_F(ArenaBlocksTest, OutsideOfThePiecesNothingStays) {
  blocks_.Reserve(8);
  EXPECT_TRUE(IsLoaded(0, 4, 5));
  EXPECT_TRUE(IsLoaded(0, 4, 5));
  EXPECT_TRUE(IsLoaded(1, 4, 5));
  EXPECT_TRUE(IsLoaded(1, 4, 5));
}

TEST_F(ArenaBlocksTest, AnotherArenaMayHaveTheSameAddresses) {
  blocks_.Reserve(8);
  EXPECT_TRUE(IsLoaded(0, 0, 5));
  EXPECT_THAT(Loaded({1}), ElementsAre(1));
  blocks_.UseArena({Piece(0)});
  EXPECT_TRUE(IsLoaded(0, 0, 5));
  EXPECT_THAT(Loaded({1}), IsEmpty());
  blocks_.UseArena({});
  EXPECT_TRUE(IsLoaded(0, 0, 5));
  EXPECT_TRUE(IsLoaded(0, 0, 5));
}

// A version is no number of takes, though they be equal.
TEST_F(ArenaBlocksTest, PoolAndArenaAreToldApart) {
  takes_[1] = 5;
  EXPECT_THAT(Loaded({1}), ElementsAre(1));
  blocks_.UsePool({}, {});
  blocks_.UseArena({memory_});
  const DeviceBlocks::Wanted wanted[] = {{.block = Block(1), .version = 6}};
  EXPECT_EQ(blocks_.Begin(wanted).size(), 1u);
}

TEST_F(DeviceBlocksTest, ReservedSlotsStay) {
  blocks_.Reserve(5);
  EXPECT_EQ(blocks_.capacity(), 5u);
  EXPECT_THAT(Loaded({1, 2}), ElementsAre(1, 2));
  EXPECT_EQ(blocks_.capacity(), 5u);
  blocks_.Clear();
  EXPECT_EQ(blocks_.capacity(), 5u);
  EXPECT_THAT(Loaded({1, 2, 3, 4, 5, 6}), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(blocks_.capacity(), 8u);
}

TEST_F(DeviceBlocksTest, MoreBlocksThanThereIsRoomForEmptyAllSlots) {
  Loaded({0, 1});
  EXPECT_THAT(Loaded({0, 1, 2}), ElementsAre(0, 1, 2));
  EXPECT_EQ(blocks_.capacity(), 4u);
  blocks_.Clear();
  EXPECT_EQ(blocks_.capacity(), 0u);
  EXPECT_THAT(Loaded({2}), ElementsAre(2));
  EXPECT_EQ(blocks_.capacity(), 1u);
}

// Against a model: what each block holds, and what each slot got.
TEST_F(DeviceBlocksTest, ASlotHoldsWhatItsBlockHolds) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    blocks_.UsePool(memory_, takes_);
    std::vector<std::uint64_t> content(16);
    std::map<std::uint32_t, std::uint64_t> slots;
    std::uint64_t next = 1;
    for (int step = 0; step < 200; ++step) {
      const std::size_t changed = rng.Below(16);
      if (rng.Chance(1, 3)) {  // a new owner
        ++takes_[changed];
        content[changed] = next++;
      }
      std::vector<DeviceBlocks::Wanted> wanted;
      for (std::size_t i = 0; i < 16; ++i) {
        if (rng.Chance(1, 4)) wanted.push_back({.block = Block(i), .is_new = rng.Chance(1, 5)});
      }
      for (const DeviceBlocks::Load& load : blocks_.Begin(wanted)) {
        ASSERT_LT(load.slot, blocks_.capacity());
        slots[load.slot] =
            content[static_cast<std::size_t>(load.block - memory_.data()) / kBlockBytes];
      }
      std::map<std::uint32_t, int> used;
      for (const DeviceBlocks::Wanted& block : wanted) {
        const std::uint32_t slot = blocks_.SlotOf(block.block);
        const std::size_t i = static_cast<std::size_t>(block.block - memory_.data()) / kBlockBytes;
        ASSERT_EQ(++used[slot], 1) << "two blocks in slot " << slot;
        if (block.is_new || rng.Chance(1, 4))
          content[i] = slots[slot] = next++;  // stored by the step
        ASSERT_EQ(slots[slot], content[i]) << "seed " << seed << " step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace cairn
