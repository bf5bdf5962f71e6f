#include "libs/device_cuda/attention_way.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

AttentionWay WayOf(std::uint32_t head_dim, std::uint32_t rotary_dim, std::uint32_t q_heads,
                   std::uint32_t kv_heads) {
  LlamaConfig config;
  config.head_dim = head_dim;
  config.rotary_dim = rotary_dim;
  config.q_heads = q_heads;
  config.kv_heads = kv_heads;
  return AttentionWayOf(config);
}

TEST(AttentionWayTest, TheModelsShapeAloneDecides) {
  EXPECT_EQ(WayOf(64, 64, 9, 3), AttentionWay::kTilesInPlace);     // SmolLM2
  EXPECT_EQ(WayOf(128, 128, 32, 8), AttentionWay::kTilesInPlace);  // Llama 3
  EXPECT_EQ(WayOf(128, 64, 32, 4), AttentionWay::kTilesInPlace);
  EXPECT_EQ(WayOf(256, 64, 16, 2), AttentionWay::kTilesInPlace);
  EXPECT_EQ(WayOf(64, 32, 9, 3), AttentionWay::kTilesScratch);
  EXPECT_EQ(WayOf(256, 256, 8, 8), AttentionWay::kTilesScratch);
  EXPECT_EQ(WayOf(64, 30, 4, 4), AttentionWay::kSimple);
  EXPECT_EQ(WayOf(96, 96, 32, 32), AttentionWay::kSimple);
  EXPECT_EQ(WayOf(128, 128, 32, 2), AttentionWay::kSimple);  // 16 query heads a KV head
}

TEST(AttentionWayTest, WaysOfTheSameBitsHaveTheSameName) {
  EXPECT_STREQ(NumericsOf(AttentionWay::kTilesScratch), NumericsOf(AttentionWay::kTilesInPlace));
  EXPECT_STRNE(NumericsOf(AttentionWay::kSimple), NumericsOf(AttentionWay::kTilesInPlace));
}

}  // namespace
}  // namespace cairn
