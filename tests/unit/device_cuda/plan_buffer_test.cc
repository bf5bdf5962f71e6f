#include "libs/device_cuda/plan_buffer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace cairn {
namespace {

// `rows` rows, of which the first `decode_rows` have two items each; a query tile a row of the
// others.
StepPlan PlanOf(std::uint32_t rows, std::uint32_t decode_rows, std::uint32_t tiles,
                std::uint32_t logit_rows) {
  StepPlan plan;
  for (std::uint32_t i = 0; i < rows; ++i) {
    plan.tokens.push_back(100 + i);
    plan.places.push_back({i, 2 * i});
    plan.rows.push_back({i, 1, 2, 3});
    plan.blocks.push_back(reinterpret_cast<std::byte*>(std::uintptr_t{4096} * (i + 1)));
  }
  for (std::uint32_t i = 0; i < decode_rows; ++i) {
    plan.decode.first_items.push_back(2 * i);
    for (std::uint32_t split = 0; split < 2; ++split) {
      plan.decode.items.push_back({i, 4 * split, 4, 64, 50 + i});
    }
  }
  for (std::uint32_t i = decode_rows; i < rows; ++i) plan.query_tiles.push_back({i, 1});
  for (std::uint32_t i = 0; i < tiles; ++i) plan.tiles.push_back({{i, 0, 0, 0}, 7, i});
  plan.rotated_tiles = tiles / 2;
  for (std::uint32_t i = 0; i < logit_rows; ++i) plan.logit_rows.push_back(i);
  return plan;
}

TEST(StepShapeTest, SizesArePowersOfTwo) {
  const StepShape shape = StepShape::Of(PlanOf(8, 3, 7, 0));
  EXPECT_EQ(shape.rows, 8u);
  EXPECT_EQ(shape.decode_rows, 4u);
  EXPECT_EQ(shape.query_tiles, 8u);
  EXPECT_EQ(shape.rotated_tiles, 4u);
  EXPECT_EQ(shape.tiles, 8u);
  EXPECT_EQ(shape.decode_items, 8u);
  EXPECT_EQ(shape.logit_rows, 0u);
  EXPECT_EQ(StepShape::Of(PlanOf(1, 0, 1, 3)).logit_rows, 4u);
}

TEST(StepShapeTest, GridsLeaveOutWhatOnlyMemoryIsMadeFor) {
  const StepShape few = StepShape::Of(PlanOf(2, 2, 2, 1)), many = StepShape::Of(PlanOf(2, 2, 3, 1));
  EXPECT_NE(few, many);
  EXPECT_EQ(few.Grids(), many.Grids());
  StepPlan choosing = PlanOf(2, 2, 2, 1);
  choosing.token_rows = 1;
  EXPECT_NE(few.Grids(), StepShape::Of(choosing).Grids());
  StepShape taking = few;
  taking.takes_rows = true;
  EXPECT_NE(few.Grids(), taking.Grids());
  EXPECT_TRUE(few.Joined(taking).takes_rows);
  for (std::uint32_t StepShape::*grid :
       {&StepShape::rows, &StepShape::decode_rows, &StepShape::rotated_tiles,
        &StepShape::query_tiles, &StepShape::logit_rows}) {
    StepShape other = few;
    other.*grid = 64;
    EXPECT_NE(few.Grids(), other.Grids());
  }
}

TEST(StepShapeTest, JoinedHasRoomForBoth) {
  const StepShape a{.rows = 1,
                    .decode_rows = 8,
                    .rotated_tiles = 1,
                    .query_tiles = 8,
                    .logit_rows = 1,
                    .tiles = 8,
                    .decode_items = 1};
  const StepShape b{.rows = 4,
                    .decode_rows = 2,
                    .rotated_tiles = 4,
                    .query_tiles = 2,
                    .logit_rows = 4,
                    .tiles = 2,
                    .decode_items = 4};
  const StepShape joined{.rows = 4,
                         .decode_rows = 8,
                         .rotated_tiles = 4,
                         .query_tiles = 8,
                         .logit_rows = 4,
                         .tiles = 8,
                         .decode_items = 4};
  EXPECT_EQ(a.Joined(b), joined);
  EXPECT_EQ(b.Joined(a), joined);
}

TEST(PlanBufferTest, ListsComeBackFromWhereTheRoomSaysTheyAre) {
  const PlanBuffer buffer({.rows = 8,
                           .decode_rows = 4,
                           .query_tiles = 4,
                           .logit_rows = 2,
                           .tiles = 4,
                           .decode_items = 8});
  // A guard behind it; two plans in one room.
  for (const std::uint32_t rows : {8u, 3u}) {
    const StepPlan plan = PlanOf(rows, rows / 2, rows / 2, rows == 8 ? 2 : 1);
    std::vector<std::byte> memory(buffer.bytes() + 8, std::byte{0xa5});
    const std::byte* base = memory.data();
    const std::size_t used = buffer.Write(plan, memory.data());
    EXPECT_LE(used, buffer.bytes());
    EXPECT_EQ(*buffer.RowCount(base), rows);
    EXPECT_EQ(*buffer.DecodeRowCount(base), rows / 2);
    EXPECT_EQ(*buffer.RotatedTileCount(base), rows / 4);
    EXPECT_EQ(*buffer.QueryTileCount(base), rows - rows / 2);
    EXPECT_EQ(*buffer.LogitRowCount(base), plan.logit_rows.size());
    EXPECT_EQ(*buffer.DecodeItemCount(base), rows / 2 * 2);
    for (std::uint32_t i = 0; i < rows; ++i) {
      EXPECT_EQ(buffer.Tokens(base)[i], 100 + i);
      EXPECT_EQ(buffer.Blocks(base)[i], plan.blocks[i]);
      EXPECT_EQ(buffer.Places(base)[i].slot, i);
      EXPECT_EQ(buffer.Places(base)[i].token, 2 * i);
      EXPECT_EQ(buffer.Rows(base)[i].first_tile, i);
      EXPECT_EQ(buffer.Rows(base)[i].position, 3u);
    }
    for (std::uint32_t i = 0; i < rows / 2; ++i) {
      EXPECT_EQ(buffer.FirstItems(base)[i], 2 * i);
      EXPECT_EQ(buffer.DecodeItems(base)[2 * i + 1].first_tile, 4u);
      EXPECT_EQ(buffer.DecodeItems(base)[2 * i + 1].position, 50 + i);
      EXPECT_EQ(buffer.Tiles(base)[i].slots[0], i);
      EXPECT_EQ(buffer.Tiles(base)[i].position, i);
      EXPECT_LE(reinterpret_cast<const std::byte*>(buffer.Tiles(base) + i + 1), base + used);
    }
    for (std::uint32_t i = 0; i < rows - rows / 2; ++i) {
      EXPECT_EQ(buffer.QueryTiles(base)[i].first_row, rows / 2 + i);
    }
    for (std::uint32_t i = 0; i < plan.logit_rows.size(); ++i) {
      EXPECT_EQ(buffer.LogitRows(base)[i], i);
    }
    for (std::size_t i = used; i < memory.size(); ++i) EXPECT_EQ(memory[i], std::byte{0xa5});
  }
}

TEST(PlanBufferTest, ListsAreAlignedWhateverTheRoom) {
  for (const std::uint32_t count : {1u, 2u, 3u, 4u}) {
    const PlanBuffer buffer({.rows = count,
                             .decode_rows = count,
                             .query_tiles = count,
                             .logit_rows = count,
                             .tiles = count,
                             .decode_items = count});
    const std::byte* base = nullptr;  // offsets
    for (const void* list : {static_cast<const void*>(buffer.Tokens(base)),
                             static_cast<const void*>(buffer.Blocks(base)),
                             static_cast<const void*>(buffer.Places(base)),
                             static_cast<const void*>(buffer.Rows(base)),
                             static_cast<const void*>(buffer.FirstItems(base)),
                             static_cast<const void*>(buffer.QueryTiles(base)),
                             static_cast<const void*>(buffer.LogitRows(base)),
                             static_cast<const void*>(buffer.DecodeItems(base)),
                             static_cast<const void*>(buffer.Tiles(base))}) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(list) % 16, 0u) << count;
    }
  }
}

TEST(PlanBufferDeathTest, APlanThatDoesNotFitIsABug) {
  const PlanBuffer buffer({.rows = 2,
                           .decode_rows = 1,
                           .query_tiles = 1,
                           .logit_rows = 1,
                           .tiles = 1,
                           .decode_items = 2});
  std::vector<std::byte> memory(buffer.bytes());
  EXPECT_DEATH(buffer.Write(PlanOf(3, 1, 1, 1), memory.data()), "rows");
  EXPECT_DEATH(buffer.Write(PlanOf(2, 1, 2, 1), memory.data()), "tiles");
  EXPECT_DEATH(buffer.Write(PlanOf(2, 1, 1, 2), memory.data()), "logit_rows");
  EXPECT_DEATH(buffer.Write(PlanOf(2, 2, 1, 1), memory.data()), "first_items");
  EXPECT_DEATH(buffer.Write(PlanOf(2, 0, 1, 1), memory.data()), "query_tiles");
  StepPlan items = PlanOf(2, 1, 1, 1);
  items.decode.items.push_back({});
  EXPECT_DEATH(buffer.Write(items, memory.data()), "items");
}

}  // namespace
}  // namespace cairn
