#include "libs/device_cuda/cuda_math.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

LlamaConfig ConfigOf(std::uint32_t head_dim, std::uint32_t rotary_dim, std::uint32_t q_heads,
                     std::uint32_t kv_heads) {
  LlamaConfig config;
  config.head_dim = head_dim;
  config.rotary_dim = rotary_dim;
  config.q_heads = q_heads;
  config.kv_heads = kv_heads;
  return config;
}

TEST(CudaMathTest, TheModelsShapeDecidesWhichKernelsAttend) {
  const struct {
    LlamaConfig config;
    AttentionWay way;
  } cases[] = {{ConfigOf(64, 64, 9, 3), AttentionWay::kTilesInPlace},     // SmolLM2
               {ConfigOf(128, 128, 32, 8), AttentionWay::kTilesInPlace},  // Llama 3
               {ConfigOf(128, 64, 32, 4), AttentionWay::kTilesInPlace},
               {ConfigOf(256, 64, 16, 2), AttentionWay::kTilesInPlace},
               {ConfigOf(64, 32, 9, 3), AttentionWay::kTilesScratch},
               {ConfigOf(256, 256, 8, 8), AttentionWay::kTilesScratch},
               {ConfigOf(64, 30, 4, 4), AttentionWay::kSimple},
               {ConfigOf(96, 96, 32, 32), AttentionWay::kSimple},
               {ConfigOf(128, 128, 32, 2), AttentionWay::kSimple}};  // 16 query heads a KV head
  for (const auto& [config, way] : cases) {
    EXPECT_EQ(AttentionWayOf(config, CudaMath::kMma), way) << config.head_dim;
    EXPECT_EQ(AttentionWayOf(config, CudaMath::kWgmmaProducts), way) << config.head_dim;
    EXPECT_TRUE(CheckMath(config, CudaMath::kMma).ok());
    EXPECT_TRUE(CheckMath(config, CudaMath::kWgmmaProducts).ok());
    const absl::Status served = CheckMath(config, CudaMath::kWgmma);
    EXPECT_EQ(served.ok(), way == AttentionWay::kTilesInPlace) << served;
    if (served.ok()) {
      EXPECT_EQ(AttentionWayOf(config, CudaMath::kWgmma), AttentionWay::kTilesWgmma);
    } else {
      EXPECT_NE(served.message().find(std::to_string(config.head_dim)), absl::string_view::npos);
    }
  }
}

TEST(CudaMathTest, WhatHasTheSameBitsHasTheSameName) {
  using enum CudaMath;
  EXPECT_EQ(NumericsOf(kMma, AttentionWay::kTilesScratch),
            NumericsOf(kMma, AttentionWay::kTilesInPlace));
  const std::string all[] = {NumericsOf(kMma, AttentionWay::kSimple),
                             NumericsOf(kMma, AttentionWay::kTilesInPlace),
                             NumericsOf(kWgmmaProducts, AttentionWay::kSimple),
                             NumericsOf(kWgmmaProducts, AttentionWay::kTilesInPlace),
                             NumericsOf(kWgmma, AttentionWay::kTilesWgmma)};
  for (std::size_t i = 0; i < std::size(all); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i], all[j]);
  }
}

}  // namespace
}  // namespace cairn
