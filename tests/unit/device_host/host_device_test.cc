#include "libs/device_host/host_device.h"

#include <gtest/gtest.h>

#include <cstring>

#include "libs/base/bytes.h"
#include "libs/base/rng.h"
#include "tests/support/tiny_model.h"
#include "tests/unit/device_host/prefix_run.h"

namespace cairn {
namespace {

class HostDeviceTest : public testing::Test {
 protected:
  std::unique_ptr<HostDevice> Make(HostDevice::Options options) {
    auto device = HostDevice::Create(gguf_, options);
    EXPECT_TRUE(device.ok()) << device.status();
    return *std::move(device);
  }
  std::vector<std::uint32_t> Ids(std::size_t count) {
    Rng rng(4);
    std::vector<std::uint32_t> ids(count);
    for (auto& id : ids) id = static_cast<std::uint32_t>(rng.Below(96));
    return ids;
  }
  std::string file_ = TinyLlama(3);
  GgufFile gguf_ = *GgufFile::Parse(AsBytes(file_));
};

TEST_F(HostDeviceTest, BitsDoNotDependOnChunksOrThreads) {
  const auto ids = Ids(330);
  const std::vector<float> whole = PrefixLogits(*Make({.threads = 1}), ids, 330);
  for (const std::uint32_t threads : {1u, 2u, 3u}) {
    const auto device = Make({.threads = threads});
    for (const std::size_t rows : {1u, 7u, 64u, 100u}) {
      const std::vector<float> cut = PrefixLogits(*device, ids, rows);
      ASSERT_EQ(std::memcmp(whole.data(), cut.data(), whole.size() * sizeof(float)), 0)
          << threads << " threads, chunks of " << rows;
    }
  }
}

TEST_F(HostDeviceTest, TokensAreThoseOfTheHighestLogits) {
  std::vector<std::vector<std::uint32_t>> prompts;
  for (std::uint32_t i = 0; i < 9; ++i) {
    prompts.emplace_back();
    for (std::uint32_t t = 0; t < 3 + 5 * i; ++t) prompts.back().push_back((7 * t + 11 * i) % 96);
  }
  ExpectTokensOfHighestLogits(*Make({.threads = 2}), prompts);
}

TEST_F(HostDeviceTest, RoomThatIsNotWhatChunksAskForIsRefused) {
  const auto device = Make({});
  const std::vector<std::uint32_t> ids = {1, 2};
  const HostBuffer pool = *HostBuffer::Allocate(device->layout().block_bytes());
  std::byte* const write = pool.data();
  const std::byte* const read = pool.data();
  StepChunk chunk{.tokens = ids,
                  .own = {.tokens = 2, .blocks = {&read, 1}},
                  .writes = {&write, 1},
                  .logit_rows = LogitRows::kLastToken};
  std::vector<std::uint32_t> tokens(2);
  const absl::Status two = device->Run({&chunk, 1}, {{}, absl::MakeSpan(tokens)});
  EXPECT_EQ(two.message(), "room for 2 tokens, not for 1");
  chunk.logit_rows = LogitRows::kAll;
  std::vector<float> logits(96);
  const absl::Status one = device->Run({&chunk, 1}, absl::MakeSpan(logits));
  EXPECT_EQ(one.message(), "room for 96 logits, not for 2 rows");
}

TEST_F(HostDeviceTest, NumericsNamesWhatChangesBits) {
  const std::string bf16 = Make({.tier = "plain"})->numerics();
  EXPECT_NE(bf16, Make({.tier = "plain", .kv_dtype = KvDtype::kF32})->numerics());
  if (host::SelectHostOps("avx2") != nullptr) {
    EXPECT_NE(bf16, Make({.tier = "avx2"})->numerics());
  }
}

TEST_F(HostDeviceTest, UnknownTierIsRefusedByName) {
  const auto device = HostDevice::Create(gguf_, {.tier = "avx9"});
  EXPECT_EQ(device.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(device.status().message().find("avx9"), absl::string_view::npos);
}

TEST_F(HostDeviceTest, ChunkThatBreaksTheContractIsNamed) {
  const auto device = Make({});
  const std::vector<std::uint32_t> ids = {1, 2, 96};
  const HostBuffer pool = *HostBuffer::Allocate(device->layout().block_bytes());
  std::byte* const write = pool.data();
  const std::byte* const read = pool.data();
  StepChunk chunk{.tokens = ids, .own = {.tokens = 3, .blocks = {&read, 1}}, .writes = {&write, 1}};
  const absl::Status bad_token = device->Run({&chunk, 1}, {});
  EXPECT_NE(bad_token.message().find("chunk 0: token 96"), absl::string_view::npos) << bad_token;
  chunk.tokens = absl::MakeConstSpan(ids).first(2);
  EXPECT_FALSE(device->Run({&chunk, 1}, {}).ok());  // own.tokens says 3
  chunk.own.tokens = 2;
  EXPECT_TRUE(device->Run({&chunk, 1}, {}).ok());
  chunk.own.position = chunk.position = 511;
  EXPECT_FALSE(device->Run({&chunk, 1}, {}).ok());  // past the model's 512 positions
  chunk.own.position = chunk.position = 0;
  const std::byte* const none = nullptr;
  chunk.own.blocks = {&none, 1};
  EXPECT_FALSE(device->Run({&chunk, 1}, {}).ok());
}

}  // namespace
}  // namespace cairn
