#include "libs/device_cuda/memory_pieces.h"

#include <gtest/gtest.h>

#include <array>

namespace cairn {
namespace {

// Pieces of 16, 8 and 4 bytes of one memory: [0, 16), [16, 24), [32, 36).
class MemoryPiecesTest : public testing::Test {
 protected:
  const std::byte* At(std::size_t i) const { return memory_.data() + i; }
  absl::Span<const std::byte> Part(std::size_t begin, std::size_t bytes) const {
    return {At(begin), bytes};
  }

  std::array<std::byte, 48> memory_{};
  MemoryPieces pieces_{{Part(32, 4), Part(0, 16), Part(40, 0), Part(16, 8), Part(16, 0)}};
};

TEST_F(MemoryPiecesTest, PiecesAreByAddressAndHaveBytes) {
  ASSERT_EQ(pieces_.size(), 3u);
  EXPECT_EQ(pieces_[0], Part(0, 16));
  EXPECT_EQ(pieces_[1], Part(16, 8));
  EXPECT_EQ(pieces_[2], Part(32, 4));
}

TEST_F(MemoryPiecesTest, AnAddressIsInThePieceThatHasIt) {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    std::optional<std::size_t> expected;
    if (i < 16) expected = 0;
    if (i >= 16 && i < 24) expected = 1;
    if (i >= 32 && i < 36) expected = 2;
    EXPECT_EQ(pieces_.Find(At(i), 1), expected) << i;
    EXPECT_EQ(pieces_.Find(At(i), 0), expected) << i;
  }
}

TEST_F(MemoryPiecesTest, AllBytesAreInOnePiece) {
  EXPECT_EQ(pieces_.Find(At(0), 16), 0u);
  EXPECT_EQ(pieces_.Find(At(5), 11), 0u);
  EXPECT_EQ(pieces_.Find(At(0), 17), std::nullopt);
  EXPECT_EQ(pieces_.Find(At(5), 12), std::nullopt) << "though the next piece begins there";
  EXPECT_EQ(pieces_.Find(At(35), 2), std::nullopt);
  EXPECT_EQ(pieces_.Find(At(1), SIZE_MAX), std::nullopt);
}

TEST_F(MemoryPiecesTest, NothingIsInNoPieces) {
  pieces_ = MemoryPieces();
  EXPECT_EQ(pieces_.size(), 0u);
  EXPECT_EQ(pieces_.Find(At(0), 1), std::nullopt);
  EXPECT_EQ(pieces_.Find(nullptr, 0), std::nullopt);
}

TEST(ContainsTest, WhatLiesBesideIsNotContained) {
  const std::byte bytes[3] = {};
  EXPECT_FALSE(Contains({bytes + 1, 1}, bytes, 1));
  EXPECT_TRUE(Contains({bytes + 1, 1}, bytes + 1, 1));
  EXPECT_FALSE(Contains({bytes + 1, 1}, bytes + 1, 2));
  EXPECT_FALSE(Contains({bytes + 1, 1}, bytes + 2, 0));
}

TEST(ContainsTest, NoMemoryContainsNothing) {
  const std::byte one{};
  EXPECT_FALSE(Contains({}, &one, 0));
  EXPECT_FALSE(Contains({}, nullptr, 0));
}

}  // namespace
}  // namespace cairn
