#include "libs/layout/kv_layout.h"

#include <gtest/gtest.h>

#include <set>

#include "libs/base/units.h"

namespace cairn {
namespace {

TEST(KvLayoutTest, RowsOfABlockAreDisjointAndFillIt) {
  const KvLayout layout =
      *KvLayout::Create({.layers = 3, .kv_heads = 2, .head_dim = 4, .block_tokens = 5});
  std::set<std::uint64_t> rows;
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    for (std::uint32_t head = 0; head < 2; ++head) {
      for (std::uint32_t slot = 0; slot < 5; ++slot) {
        rows.insert(layout.KeyOffset(layer, head) + slot * layout.row_bytes());
        rows.insert(layout.ValueOffset(layer, head) + slot * layout.row_bytes());
      }
    }
  }
  EXPECT_EQ(rows.size(), 3u * 2 * 2 * 5);
  EXPECT_EQ(*rows.rbegin() + layout.row_bytes(), layout.token_bytes() * 5);
}

TEST(KvLayoutTest, BlockOfSmolLmIsWholePieces) {
  const KvLayout layout =
      *KvLayout::Create({.layers = 30, .kv_heads = 3, .head_dim = 64, .block_tokens = 16});
  EXPECT_EQ(layout.block_bytes(), 368'640u);
  EXPECT_EQ(layout.block_bytes() % kPieceBytes, 0u);
}

TEST(KvLayoutTest, ZeroAndOverflowingShapesAreRefused) {
  EXPECT_FALSE(
      KvLayout::Create({.layers = 0, .kv_heads = 1, .head_dim = 1, .block_tokens = 1}).ok());
  EXPECT_FALSE(KvLayout::Create({.layers = UINT32_MAX,
                                 .kv_heads = UINT32_MAX,
                                 .head_dim = UINT32_MAX,
                                 .block_tokens = UINT32_MAX})
                   .ok());
}

TEST(KvLayoutTest, IdentityTextNamesWhatChangesBytes) {
  const KvLayout::Shape shape{.layers = 2, .kv_heads = 1, .head_dim = 8, .block_tokens = 16};
  KvLayout::Shape other = shape;
  other.dtype = KvDtype::kF32;
  EXPECT_NE(KvLayout::Create(shape)->IdentityText(), KvLayout::Create(other)->IdentityText());
}

}  // namespace
}  // namespace cairn
