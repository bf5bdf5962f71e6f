// What fails: too little memory, chunks that break the contract, models that are not served. What
// is said then, and that the device goes on.
#include "absl/strings/str_cat.h"
#include "libs/gguf/gguf_writer.h"
#include "tests/unit/device_cuda/cuda_device_fixture.h"
#include "tests/unit/device_host/prefix_run.h"

namespace cairn {
namespace {

TEST_F(CudaDeviceTest, RoomThatThereIsNotIsNamed) {
  if (!HasChosenMemory()) GTEST_SKIP() << "a GPU has the memory that it has";
  constexpr std::size_t kMemory = std::size_t{16} << 20;
  const auto device = MakeWithMemory(kMemory), other = Make({});
  const std::uint64_t block_bytes = device->layout().block_bytes();
  const auto too_many = static_cast<std::uint32_t>(kMemory / block_bytes);
  EXPECT_TRUE(device->Reserve({.blocks = too_many / 2}).ok());
  const absl::Status status = device->Reserve({.blocks = too_many});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find(absl::StrCat(too_many * block_bytes, " bytes of KV blocks")),
            absl::string_view::npos)
      << status;
  EXPECT_TRUE(
      AreBitsEqual(PrefixLogits(*device, Ids(9, 60), 20), PrefixLogits(*other, Ids(9, 60), 20)));
}

TEST_F(CudaDeviceTest, RoomForRowsIsReservedToo) {
  if (!HasChosenMemory()) GTEST_SKIP() << "a GPU has the memory that it has";
  const auto device = MakeWithMemory(std::size_t{2} << 20);
  EXPECT_TRUE(device->Reserve({.blocks = 8, .rows = 64, .requests = 64}).ok());
  const absl::Status status = device->Reserve({.blocks = 8, .rows = 4096, .requests = 64});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("activations"), absl::string_view::npos) << status;
}

// What was taken for a step that does not fit is given back: what fits a fresh device still does.
TEST_F(CudaDeviceTest, SmallerStepsFitAfterOneThatDidNot) {
  if (!HasChosenMemory()) GTEST_SKIP() << "a GPU has the memory that it has";
  const auto runs = [&](CudaDevice& device, std::uint32_t rows) {
    const auto ids = Ids(rows, rows);
    const HostBlocks blocks(device, CeilDiv(rows, 16));
    const StepChunk chunk = blocks.Chunk(ids);
    const absl::Status status = device.Run({&chunk, 1}, {});
    EXPECT_TRUE(status.ok() || absl::IsResourceExhausted(status)) << status;
    return status.ok();
  };
  int failed = 0;
  for (std::size_t kib = 300; kib <= 900; kib += 40) {
    CudaDevice::Options options;
    options.device.memory_bytes = kib << 10;
    auto device = CudaDevice::Create(gguf_, options);
    if (!device.ok()) continue;  // not even the weights
    const bool is_large_done = runs(**device, 512);
    failed += !is_large_done;
    for (const std::uint32_t rows : {256u, 64u, 2u}) {
      const bool fits = runs(*Make(options), rows);
      EXPECT_EQ(runs(**device, rows), fits) << rows << " rows of " << kib << " KiB";
    }
  }
  EXPECT_GT(failed, 2);
}

// Whatever the step that failed had begun to keep.
TEST_F(CudaDeviceTest, AStepWithoutMemoryFailsAndSmallerOnesGoOn) {
  if (!HasChosenMemory()) GTEST_SKIP() << "a GPU has the memory that it has";
  const auto device = MakeWithMemory(std::size_t{16} << 20), other = Make({});  // 4096 blocks
  constexpr std::size_t kChunks = 129, kBlocks = 32 * kChunks;
  const HostBlocks pool(*device, kBlocks);
  const std::vector<std::uint64_t> takes(kBlocks, 1);
  device->UsePool(pool.memory(), takes);
  const std::vector<std::uint32_t> ids = Ids(8, 41);
  const auto most = absl::MakeConstSpan(ids).first(40), last = absl::MakeConstSpan(ids).last(1);
  const std::vector<float> wanted = LastLogits(*other, pool.Chunk(most));
  EXPECT_TRUE(AreBitsEqual(LastLogits(*device, pool.Chunk(most)), wanted));
  std::vector<StepChunk> many;
  for (std::size_t i = 0; i < kChunks; ++i) many.push_back(pool.Chunk(last, 511, 32 * i));
  const absl::Status status = device->Run(many, {});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  const std::uint64_t loaded = device->blocks_loaded();
  EXPECT_TRUE(AreBitsEqual(LastLogits(*device, pool.Chunk(most)), wanted));
  const StepChunk next = pool.Chunk(last, 40);
  EXPECT_TRUE(device->Run({&next, 1}, {}).ok());
  EXPECT_EQ(device->blocks_loaded(), loaded);  // all that the good steps stored is there
}

TEST_F(CudaDeviceTest, ChunkThatBreaksTheContractIsNamed) {
  const auto device = Make({});
  const std::vector<std::uint32_t> ids = {1, 2, 96};
  const HostBlocks blocks(*device, 1);
  StepChunk chunk = blocks.Chunk(ids);
  const absl::Status bad_token = device->Run({&chunk, 1}, {});
  EXPECT_NE(bad_token.message().find("chunk 0: token 96"), absl::string_view::npos) << bad_token;
  chunk = blocks.Chunk(absl::MakeConstSpan(ids).first(2));
  EXPECT_TRUE(device->Run({&chunk, 1}, {}).ok());
  chunk.logit_rows = LogitRows::kLast;
  const absl::Status no_room = device->Run({&chunk, 1}, {});
  EXPECT_NE(no_room.message().find("room for 0 logits, not for 1 rows"), absl::string_view::npos);
  EXPECT_TRUE(device->Run({}, {}).ok());
}

// A model's header with one key replaced.
absl::Status StatusWith(absl::string_view key, std::uint32_t value, std::uint32_t block_tokens) {
  GgufWriter writer;
  writer.AddString("general.architecture", "llama");
  const std::pair<const char*, std::uint32_t> fields[] = {
      {"llama.block_count", 1},          {"llama.embedding_length", 64},
      {"llama.feed_forward_length", 96}, {"llama.attention.head_count", 4},
      {"llama.context_length", 64},      {"llama.attention.key_length", 16},
      {"llama.rope.dimension_count", 16}};
  std::uint64_t hidden = 64;
  for (const auto& [name, otherwise] : fields) {
    writer.AddUint32(name, key == name ? value : otherwise);
    if (key == "llama.embedding_length") hidden = value;
  }
  writer.AddFloat32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  writer.AddTensor("token_embd.weight", TensorType::kF32, {hidden, 8},
                   std::vector<float>(hidden * 8, 0.5f));
  const std::string file = std::move(writer).Finish();
  return CudaDevice::Create(*GgufFile::Parse(AsBytes(file)), {.block_tokens = block_tokens})
      .status();
}

TEST(CudaDeviceModelTest, ModelsThatTheKernelsDoNotServeAreRefused) {
  EXPECT_NE(StatusWith("", 0, 16).message().find("output_norm.weight"), absl::string_view::npos);
  const std::pair<const char*, std::uint32_t> cases[] = {{"llama.embedding_length", 72},
                                                         {"llama.feed_forward_length", 100},
                                                         {"llama.attention.key_length", 24},
                                                         {"llama.attention.key_length", 272}};
  for (const auto& [key, value] : cases) {
    const absl::Status status = StatusWith(key, value, 16);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << key;
    EXPECT_NE(status.message().find(std::to_string(value)), absl::string_view::npos) << status;
  }
  EXPECT_NE(StatusWith("", 0, 48).message().find("48"), absl::string_view::npos);
}

}  // namespace
}  // namespace cairn
