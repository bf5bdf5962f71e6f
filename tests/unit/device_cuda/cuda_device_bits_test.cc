// Which bits come out, and what they depend on.
#include "tests/unit/device_cuda/cuda_device_fixture.h"
#include "tests/unit/device_host/prefix_run.h"

namespace cairn {
namespace {

INSTANTIATE_TEST_SUITE_P(Ways, CudaDeviceWayTest,
                         testing::Values(AttentionWay::kSimple, AttentionWay::kTilesScratch,
                                         AttentionWay::kTilesInPlace, AttentionWay::kTilesWgmma));

// Of more rows than a query tile, of fewer, and of so few that they are decoded.
TEST_P(CudaDeviceWayTest, BitsDoNotDependOnChunksBlocksOrSchedules) {
  const auto ids = Ids(4, 150);
  const auto device = Make({});
  ASSERT_EQ(AttentionWayOf(device->config(), math_), GetParam());
  const std::vector<float> whole = PrefixLogits(*device, ids, 150);  // a grid of 256 rows
  for (const std::size_t rows : {1u, 7u, 33u, 100u}) {
    CudaDevice::Options options{.block_tokens = rows == 33 ? 64u : 16u};
    options.device.seed = 10 + rows;
    EXPECT_TRUE(AreBitsEqual(whole, PrefixLogits(*Make(options), ids, rows)))
        << "chunks of " << rows;
  }
}

// Two requests' chunks in one step: of query tiles, and of one that decodes beside the other.
TEST_P(CudaDeviceWayTest, BitsDoNotDependOnWhoSharesTheStep) {
  const auto device = Make({});
  const std::vector<std::uint32_t> prompts[2] = {Ids(6, 50), Ids(7, 21)};
  const HostBlocks blocks(*device, 6);
  StepChunk chunks[] = {blocks.Chunk(prompts[0]), blocks.Chunk(prompts[1], 0, 4)};
  for (StepChunk& chunk : chunks) chunk.logit_rows = LogitRows::kAll;
  std::vector<float> logits((50 + 21) * kVocabulary);
  ASSERT_TRUE(device->Run(chunks, absl::MakeSpan(logits)).ok());
  std::vector<float> expected = PrefixLogits(*device, prompts[0], 50);
  const std::vector<float> second = PrefixLogits(*device, prompts[1], 21);
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_TRUE(AreBitsEqual(logits, expected));
  for (std::size_t i = 21; i < 32; ++i) {  // slots behind a segment's end stay as they were
    const std::byte* key = blocks[5] + (i - 16) * device->layout().row_bytes();
    EXPECT_EQ(key[0], std::byte{0}) << i;
  }
}

TEST_F(CudaDeviceTest, NumericsNamesWhatChangesBits) {
  const std::string numerics = Make({})->numerics();
  for (const char* part :
       {"cuda:", "bf16", "linear=mma", "rows=", "tile=64x4", "attend=", "kv=bf16", "rope="}) {
    EXPECT_NE(numerics.find(part), std::string::npos) << numerics;
  }
}

// Products by wgmma have bits of their own, which depend on as little as the others'.
TEST_F(CudaDeviceTest, ProductsByWgmmaKeepOnEqualToOff) {
  Load(AttentionWay::kTilesInPlace);
  const auto ids = Ids(4, 90);
  const auto mma = Make({});
  math_ = CudaMath::kWgmmaProducts;
  const auto wgmma = Make({});
  EXPECT_TRUE(wgmma->shape().is_generated_kv_final);
  const std::vector<float> whole = PrefixLogits(*wgmma, ids, 90);
  EXPECT_FALSE(AreBitsEqual(whole, PrefixLogits(*mma, ids, 90)));
  for (const std::size_t rows : {1u, 9u, 40u}) {
    EXPECT_TRUE(AreBitsEqual(whole, PrefixLogits(*Make({}), ids, rows))) << "chunks of " << rows;
  }
}

TEST_F(CudaDeviceTest, AttentionByWgmmaSaysThatSampledTokensAreItsOwn) {
  Load(AttentionWay::kTilesWgmma);
  EXPECT_FALSE(Make({})->shape().is_generated_kv_final);
  Load(AttentionWay::kTilesScratch);
  const absl::Status status = CudaDevice::Create(gguf_, {.math = CudaMath::kWgmma}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
}

}  // namespace
}  // namespace cairn
