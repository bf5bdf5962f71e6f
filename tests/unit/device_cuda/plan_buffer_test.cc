#include "libs/device_cuda/plan_buffer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace cairn {
namespace {

StepPlan PlanOf(std::uint32_t rows, std::uint32_t tiles, std::uint32_t logit_rows) {
  StepPlan plan;
  for (std::uint32_t i = 0; i < rows; ++i) {
    plan.tokens.push_back(100 + i);
    plan.places.push_back({i, 2 * i});
    plan.rows.push_back({i, 1, 2, 3});
    plan.blocks.push_back(reinterpret_cast<std::byte*>(std::uintptr_t{4096} * (i + 1)));
  }
  for (std::uint32_t i = 0; i < tiles; ++i) plan.tiles.push_back({{i, 0, 0, 0}, 7, i});
  for (std::uint32_t i = 0; i < logit_rows; ++i) plan.logit_rows.push_back(i);
  return plan;
}

TEST(PlanBufferTest, ShapesArePowersOfTwo) {
  const StepShape shape = StepShape::Of(PlanOf(5, 4, 0));
  EXPECT_EQ(shape.rows, 8u);
  EXPECT_EQ(shape.tiles, 4u);
  EXPECT_EQ(shape.logit_rows, 0u);
  EXPECT_EQ(StepShape::Of(PlanOf(1, 1, 3)).logit_rows, 4u);
}

TEST(PlanBufferTest, ListsComeBackFromWhereTheShapeSaysTheyAre) {
  const PlanBuffer buffer({.rows = 8, .tiles = 4, .logit_rows = 2});
  // A guard behind it; two plans of one shape.
  for (const std::uint32_t rows : {8u, 3u}) {
    const StepPlan plan = PlanOf(rows, rows / 2, rows == 8 ? 2 : 1);
    std::vector<std::byte> memory(buffer.bytes() + 8, std::byte{0xa5});
    const std::byte* base = memory.data();
    buffer.Write(plan, memory.data());
    EXPECT_EQ(*buffer.RowCount(base), rows);
    EXPECT_EQ(*buffer.TileCount(base), rows / 2);
    EXPECT_EQ(*buffer.LogitRowCount(base), plan.logit_rows.size());
    for (std::uint32_t i = 0; i < rows; ++i) {
      EXPECT_EQ(buffer.Tokens(base)[i], 100 + i);
      EXPECT_EQ(buffer.Blocks(base)[i], plan.blocks[i]);
      EXPECT_EQ(buffer.Places(base)[i].slot, i);
      EXPECT_EQ(buffer.Places(base)[i].token, 2 * i);
      EXPECT_EQ(buffer.Rows(base)[i].first_tile, i);
      EXPECT_EQ(buffer.Rows(base)[i].position, 3u);
    }
    for (std::uint32_t i = 0; i < rows / 2; ++i) {
      EXPECT_EQ(buffer.Tiles(base)[i].slots[0], i);
      EXPECT_EQ(buffer.Tiles(base)[i].position, i);
    }
    for (std::uint32_t i = 0; i < plan.logit_rows.size(); ++i) {
      EXPECT_EQ(buffer.LogitRows(base)[i], i);
    }
    for (std::size_t i = buffer.bytes(); i < memory.size(); ++i) {
      EXPECT_EQ(memory[i], std::byte{0xa5});
    }
  }
}

TEST(PlanBufferTest, ListsAreAlignedWhateverTheShape) {
  for (const std::uint32_t count : {1u, 2u, 4u}) {
    const PlanBuffer buffer({.rows = count, .tiles = count, .logit_rows = count});
    const std::byte* base = nullptr;  // offsets
    for (const void* list :
         {static_cast<const void*>(buffer.Tokens(base)),
          static_cast<const void*>(buffer.Blocks(base)),
          static_cast<const void*>(buffer.Places(base)),
          static_cast<const void*>(buffer.Rows(base)), static_cast<const void*>(buffer.Tiles(base)),
          static_cast<const void*>(buffer.LogitRows(base))}) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(list) % 16, 0u) << count;
    }
  }
}

TEST(PlanBufferDeathTest, APlanThatDoesNotFitIsABug) {
  const PlanBuffer buffer({.rows = 1, .tiles = 1, .logit_rows = 1});
  std::vector<std::byte> memory(buffer.bytes());
  EXPECT_DEATH(buffer.Write(PlanOf(2, 1, 1), memory.data()), "rows");
  EXPECT_DEATH(buffer.Write(PlanOf(1, 2, 1), memory.data()), "tiles");
  EXPECT_DEATH(buffer.Write(PlanOf(1, 1, 2), memory.data()), "logit_rows");
}

}  // namespace
}  // namespace cairn
