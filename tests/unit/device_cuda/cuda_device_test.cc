#include "libs/device_cuda/cuda_device.h"

#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/rng.h"
#include "libs/gguf/gguf_writer.h"
#include "tests/support/tiny_model.h"
#include "tests/unit/device_cuda/random_llama.h"
#include "tests/unit/device_host/prefix_run.h"

namespace cairn {
namespace {

// Models of every way of attention, with a vocabulary of 96.
std::string ModelOf(AttentionWay way) {
  RandomLlamaShape shape{.hidden = 128, .ffn = 96, .layers = 2, .vocabulary = 96};
  if (way == AttentionWay::kSimple) return TinyLlama(3);
  if (way == AttentionWay::kTilesScratch) shape.rotary_dim = 16;
  return RandomLlama(shape, 3);
}

class CudaDeviceTest : public testing::Test {
 protected:
  std::unique_ptr<CudaDevice> Make(CudaDevice::Options options) {
    if (math_ != CudaMath::kMma) options.math = math_;
    auto device = CudaDevice::Create(gguf_, options);
    EXPECT_TRUE(device.ok()) << device.status();
    return *std::move(device);
  }
  static std::vector<std::uint32_t> Ids(std::uint64_t seed, std::size_t count) {
    Rng rng(seed);
    std::vector<std::uint32_t> ids(count);
    for (auto& id : ids) id = static_cast<std::uint32_t>(rng.Below(96));
    return ids;
  }
  // How much memory there is is an option of the emulated device only.
  bool HasChosenMemory() { return Make({})->device_name() == "emulated Hopper"; }
  static bool AreBitsEqual(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  }
  void Load(AttentionWay way) {
    if (way == AttentionWay::kTilesWgmma) math_ = CudaMath::kWgmma;
    file_ = ModelOf(way);
    gguf_ = *GgufFile::Parse(AsBytes(file_));
  }

  std::string file_ = TinyLlama(3);
  GgufFile gguf_ = *GgufFile::Parse(AsBytes(file_));
  CudaMath math_ = CudaMath::kMma;
};

class CudaDeviceWayTest : public CudaDeviceTest, public testing::WithParamInterface<AttentionWay> {
 protected:
  CudaDeviceWayTest() { Load(GetParam()); }
};
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

TEST_P(CudaDeviceWayTest, GraphsHaveTheBitsOfSingleLaunches) {
  const auto ids = Ids(5, 40);
  const auto with = Make({.uses_graphs = true});
  const auto without = Make({.uses_graphs = false});
  const std::vector<float> expected = PrefixLogits(*without, ids, 40);
  // Shapes that come again, and memory that has grown in between.
  for (const std::size_t rows : {1u, 20u, 1u, 3u}) {
    EXPECT_TRUE(AreBitsEqual(expected, PrefixLogits(*with, ids, rows))) << "chunks of " << rows;
  }
}

// However long the lists are that they attend, and whichever blocks they are in: here a graph that
// was captured for one split of keys does two.
TEST_F(CudaDeviceTest, DecodingStepsOfABatchSizeAreOneGraph) {
  Load(AttentionWay::kTilesInPlace);
  const auto device = Make({});
  const auto ids = Ids(3, 270);
  const std::vector<float> whole = PrefixLogits(*device, ids, 270);
  EXPECT_EQ(device->graphs_captured(), 0u);
  EXPECT_TRUE(AreBitsEqual(whole, PrefixLogits(*device, ids, 6)));  // room for all that follows
  const std::uint64_t captured = device->graphs_captured();
  EXPECT_TRUE(AreBitsEqual(whole, PrefixLogits(*device, ids, 1)));
  EXPECT_EQ(device->graphs_captured(), captured + 1);
  PrefixLogits(*device, Ids(6, 50), 5);
  PrefixLogits(*device, Ids(7, 60), 1);
  EXPECT_EQ(device->graphs_captured(), captured + 1);
}

// The same step, before and after there is a pool that the device writes to itself.
TEST_F(CudaDeviceTest, NewTokensReachTheHostWhicheverWay) {
  Load(AttentionWay::kTilesInPlace);
  const auto device = Make({});
  const std::size_t block_bytes = device->layout().block_bytes();
  const HostBuffer first = *HostBuffer::Allocate(block_bytes);
  const HostBuffer second = *HostBuffer::Allocate(block_bytes);
  const std::vector<std::uint64_t> takes(1, 1);
  const auto ids = Ids(2, 9);
  for (const HostBuffer* pool : {&first, &second}) {
    if (pool == &second) device->UsePool({pool->data(), block_bytes}, takes);
    std::byte* const write = pool->data();
    const std::byte* const read = write;
    for (std::uint32_t row = 0; row < 9; ++row) {
      const StepChunk chunk{.tokens = absl::MakeConstSpan(ids).subspan(row, 1),
                            .position = row,
                            .own = {.tokens = row + 1, .blocks = {&read, 1}},
                            .first_row = row,
                            .writes = {&write, 1}};
      ASSERT_TRUE(device->Run({&chunk, 1}, {}).ok());
    }
  }
  EXPECT_EQ(std::memcmp(first.data(), second.data(), block_bytes), 0);
  device->UsePool({}, {});
}

// Two requests' chunks in one step: of query tiles, and of one that decodes beside the other.
TEST_P(CudaDeviceWayTest, BitsDoNotDependOnWhoSharesTheStep) {
  const auto device = Make({});
  const std::vector<std::uint32_t> prompts[2] = {Ids(6, 50), Ids(7, 21)};
  const std::size_t block_bytes = device->layout().block_bytes();
  const HostBuffer pool = *HostBuffer::Allocate(8 * block_bytes);
  std::vector<std::byte*> writes[2];
  std::vector<const std::byte*> reads[2];
  std::vector<StepChunk> chunks;
  std::size_t next = 0, rows = 0;
  for (int i = 0; i < 2; ++i) {
    for (std::size_t at = 0; at < prompts[i].size(); at += 16) {
      writes[i].push_back(pool.data() + (next++) * block_bytes);
      reads[i].push_back(writes[i].back());
    }
    chunks.push_back(
        {.tokens = prompts[i],
         .own = {.tokens = static_cast<std::uint32_t>(prompts[i].size()), .blocks = reads[i]},
         .writes = writes[i],
         .logit_rows = LogitRows::kAll});
    rows += prompts[i].size();
  }
  std::vector<float> logits(rows * 96);
  ASSERT_TRUE(device->Run(chunks, absl::MakeSpan(logits)).ok());
  std::vector<float> expected = PrefixLogits(*device, prompts[0], 50);
  const std::vector<float> second = PrefixLogits(*device, prompts[1], 21);
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_TRUE(AreBitsEqual(logits, expected));
  for (std::size_t i = 21; i < 32; ++i) {  // slots behind a segment's end stay as they were
    const std::byte* key = reads[1][1] + (i - 16) * device->layout().row_bytes();
    EXPECT_EQ(key[0], std::byte{0}) << i;
  }
}

// In steps that are graphs and in steps that are not.
TEST_F(CudaDeviceTest, TokensAreThoseOfTheHighestLogits) {
  Load(AttentionWay::kTilesInPlace);
  const auto device = Make({});
  ExpectTokensOfHighestLogits(*device, {Ids(1, 5), Ids(2, 3), Ids(3, 8), Ids(4, 2), Ids(5, 1)});
  EXPECT_GT(device->graphs_captured(), 0u);
  ExpectTokensOfHighestLogits(*device, {Ids(6, 20), Ids(7, 30), Ids(8, 9), Ids(9, 3), Ids(10, 2)});
  ExpectTokensOfHighestLogits(*device, {Ids(11, 6)});
}

TEST_F(CudaDeviceTest, RoomThatThereIsNotIsNamed) {
  if (!HasChosenMemory()) GTEST_SKIP() << "a GPU has the memory that it has";
  CudaDevice::Options options;
  options.device.memory_bytes = std::size_t{16} << 20;
  const auto device = Make(options), other = Make({});
  const std::uint64_t block_bytes = device->layout().block_bytes();
  const auto too_many = static_cast<std::uint32_t>((std::size_t{16} << 20) / block_bytes);
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
  CudaDevice::Options options;
  options.device.memory_bytes = std::size_t{2} << 20;
  const auto device = Make(options);
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
    const std::size_t block_bytes = device.layout().block_bytes(), count = CeilDiv(rows, 16);
    const HostBuffer pool = *HostBuffer::Allocate(count * block_bytes);
    std::vector<std::byte*> writes;
    for (std::size_t i = 0; i < count; ++i) writes.push_back(pool.data() + i * block_bytes);
    const std::vector<const std::byte*> reads(writes.begin(), writes.end());
    const StepChunk chunk{
        .tokens = ids, .own = {.tokens = rows, .blocks = reads}, .writes = writes};
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
      auto fresh = *CudaDevice::Create(gguf_, options);
      const bool fits = runs(*fresh, rows);
      EXPECT_EQ(runs(**device, rows), fits) << rows << " rows of " << kib << " KiB";
    }
  }
  EXPECT_GT(failed, 2);
}

TEST_F(CudaDeviceTest, ReservedBlocksAreNotTakenAnew) {
  const auto device = Make({});
  ASSERT_TRUE(device->Reserve({.blocks = 4, .rows = 64, .requests = 8}).ok());
  const std::size_t block_bytes = device->layout().block_bytes();
  const HostBuffer pool = *HostBuffer::Allocate(4 * block_bytes);
  const std::vector<std::uint64_t> takes(4, 1);
  device->UsePool({pool.data(), 4 * block_bytes}, takes);
  const auto ids = Ids(8, 60);
  std::vector<std::byte*> writes;
  for (std::size_t i = 0; i < 4; ++i) writes.push_back(pool.data() + i * block_bytes);
  const std::vector<const std::byte*> reads(writes.begin(), writes.end());
  for (std::uint32_t first = 0; first < 60; first += 20) {
    const std::size_t end_block = CeilDiv(first + 20, 16);
    const StepChunk chunk{
        .tokens = absl::MakeConstSpan(ids).subspan(first, 20),
        .position = first,
        .own = {.tokens = first + 20, .blocks = absl::MakeConstSpan(reads).first(end_block)},
        .first_row = first,
        .writes = absl::MakeConstSpan(writes).subspan(first / 16, end_block - first / 16)};
    ASSERT_TRUE(device->Run({&chunk, 1}, {}).ok());
  }
  EXPECT_EQ(device->blocks_loaded(), 0u);
  device->UsePool({}, {});
}

// One slot of an arena whose content changes, attended by a row of its own.
TEST_F(CudaDeviceTest, AnArenasBlockIsCopiedOnceForEachVersion) {
  class OneSlot : public SharedArena {
   public:
    explicit OneSlot(absl::Span<const std::byte> memory) : memory_(memory) {}
    std::vector<absl::Span<const std::byte>> pieces() const override { return {memory_}; }

   private:
    const absl::Span<const std::byte> memory_;
  };
  const auto device = Make({}), forgetful = Make({});
  const std::size_t block_bytes = device->layout().block_bytes();
  const HostBuffer arena = *HostBuffer::Allocate(block_bytes);
  const HostBuffer pool = *HostBuffer::Allocate(block_bytes);
  device->UseArena(std::make_shared<OneSlot>(absl::MakeConstSpan(arena.data(), block_bytes)));
  const auto ids = Ids(8, 1);
  const auto run = [&](CudaDevice& on, std::uint64_t version) {
    const std::byte *const in_arena = arena.data(), *const read = pool.data();
    std::byte* const write = pool.data();
    const AttendedSegment context{
        .tokens = 16, .blocks = {&in_arena, 1}, .versions = {&version, 1}};
    const StepChunk chunk{.tokens = ids,
                          .position = 16,
                          .context = {&context, 1},
                          .own = {.position = 16, .tokens = 1, .blocks = {&read, 1}},
                          .writes = {&write, 1},
                          .logit_rows = LogitRows::kLast};
    std::vector<float> logits(96);
    EXPECT_TRUE(on.Run({&chunk, 1}, absl::MakeSpan(logits)).ok());
    return logits;
  };
  std::vector<float> last;
  for (const std::uint64_t version : {5, 6, 9}) {
    for (std::size_t i = 0; i < block_bytes; ++i) {  // bf16 values of about 1
      arena.data()[i] = i % 2 == 0 ? static_cast<std::byte>(i * version) : std::byte{0x3f};
    }
    const std::uint64_t before = device->blocks_loaded();
    const std::vector<float> wanted = run(*forgetful, 0);
    EXPECT_FALSE(AreBitsEqual(wanted, last)) << "the contents should matter";
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(AreBitsEqual(run(*device, version), wanted));
    EXPECT_EQ(device->blocks_loaded() - before, 1u);
    last = wanted;
  }
  device->UseArena(nullptr);
}

// A pool of the host that the device was told of.
TEST_F(CudaDeviceTest, BlocksOfThePoolAreCopiedOnceForEachTake) {
  const auto device = Make({}), forgetful = Make({});
  const std::size_t block_bytes = device->layout().block_bytes();
  const HostBuffer pool = *HostBuffer::Allocate(4 * block_bytes);
  std::vector<std::uint64_t> takes(4, 1);
  device->UsePool({pool.data(), 4 * block_bytes}, takes);
  const std::vector<std::uint32_t> ids = Ids(8, 40);
  std::vector<std::byte*> writes;
  for (std::size_t i = 0; i < 3; ++i) writes.push_back(pool.data() + i * block_bytes);
  const std::vector<const std::byte*> reads(writes.begin(), writes.end());
  // Rows [first, first + rows) of the prompt; its last row's logits.
  const auto run = [&](CudaDevice& on, std::uint32_t first, std::uint32_t rows) {
    const std::size_t end_block = CeilDiv(first + rows, 16), first_block = first / 16;
    const StepChunk chunk{
        .tokens = absl::MakeConstSpan(ids).subspan(first, rows),
        .position = first,
        .own = {.tokens = first + rows, .blocks = absl::MakeConstSpan(reads).first(end_block)},
        .first_row = first,
        .writes = absl::MakeConstSpan(writes).subspan(first_block, end_block - first_block),
        .logit_rows = LogitRows::kLast};
    std::vector<float> logits(96);
    const absl::Status status = on.Run({&chunk, 1}, absl::MakeSpan(logits));
    EXPECT_TRUE(status.ok()) << status;
    return logits;
  };
  run(*device, 0, 30);
  const std::vector<float> kept = run(*device, 30, 5);
  run(*device, 35, 1);
  EXPECT_EQ(device->blocks_loaded(), 2u);  // both, when the third made the pool grow
  EXPECT_TRUE(AreBitsEqual(kept, run(*forgetful, 30, 5)));
  EXPECT_EQ(forgetful->blocks_loaded(), 2u);

  // Another owner's bytes in the first block; by its word alone the device can know.
  std::memcpy(writes[0], writes[1], block_bytes);
  ++takes[0];
  const std::vector<float> changed = run(*device, 36, 1);
  EXPECT_EQ(device->blocks_loaded(), 3u);
  EXPECT_TRUE(AreBitsEqual(changed, run(*forgetful, 36, 1)));

  device->UsePool({}, {});
  EXPECT_TRUE(AreBitsEqual(changed, run(*device, 36, 1)));
  EXPECT_EQ(device->blocks_loaded(), 6u);
}

// By the device where it has them whole, by the CPU otherwise.
TEST_F(CudaDeviceTest, BlocksAreSummedAsTheCpuDoes) {
  const auto device = Make({});
  const std::size_t block_bytes = device->layout().block_bytes();
  const HostBuffer pool = *HostBuffer::Allocate(5 * block_bytes);
  std::vector<std::uint64_t> takes(4, 1);
  device->UsePool({pool.data(), 4 * block_bytes}, takes);
  std::vector<std::byte*> writes;
  for (std::size_t i = 0; i < 4; ++i) writes.push_back(pool.data() + i * block_bytes);
  const std::vector<const std::byte*> reads(writes.begin(), writes.end());
  const std::vector<std::uint32_t> ids = Ids(8, 40);
  for (std::uint32_t first = 0; first < 40; first += 10) {
    const std::size_t end_block = CeilDiv(first + 10, 16);
    const StepChunk chunk{
        .tokens = absl::MakeConstSpan(ids).subspan(first, 10),
        .position = first,
        .own = {.tokens = first + 10, .blocks = absl::MakeConstSpan(reads).first(end_block)},
        .first_row = first,
        .writes = absl::MakeConstSpan(writes).subspan(first / 16, end_block - first / 16)};
    ASSERT_TRUE(device->Run({&chunk, 1}, {}).ok());
  }
  // Two whole blocks, one of 8 tokens, one of the pool that no step has seen, one beside the pool.
  std::vector<StoredBlock> blocks;
  for (std::uint32_t i = 0; i < 5; ++i) {
    blocks.push_back({{pool.data() + i * block_bytes, block_bytes}, i == 2 ? 8u : 16u});
  }
  std::swap(blocks[0], blocks[1]);
  const auto expect_sums = [&](std::uint64_t by_device) {
    std::vector<Checksum> sums(blocks.size());
    const std::uint64_t before = device->blocks_summed();
    device->Sum(blocks, absl::MakeSpan(sums));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_EQ(sums[i], ChecksumOf(blocks[i].bytes)) << i;
    }
    EXPECT_EQ(device->blocks_summed() - before, by_device);
  };
  expect_sums(2);
  std::memset(writes[0], 0x41, block_bytes);  // of another owner
  ++takes[0];
  expect_sums(1);
  device->UsePool({}, {});
  expect_sums(0);
  device->Sum({}, {});
}

// Blocks that a layout fills up to a page: what is behind the tokens was never on the device.
TEST_F(CudaDeviceTest, PaddedBlocksAreSummedAsTheCpuDoes) {
  file_ = RandomLlama(
      {.hidden = 32, .ffn = 32, .q_heads = 1, .kv_heads = 1, .layers = 1, .vocabulary = 96}, 3);
  gguf_ = *GgufFile::Parse(AsBytes(file_));
  const auto device = Make({});
  const std::size_t block_bytes = device->layout().block_bytes();
  ASSERT_LT(device->layout().token_bytes() * 16, block_bytes);
  const HostBuffer pool = *HostBuffer::Allocate(block_bytes);
  const std::vector<std::uint64_t> takes(1, 1);
  device->UsePool({pool.data(), block_bytes}, takes);
  const auto ids = Ids(8, 16);
  std::byte* const write = pool.data();
  const std::byte* const read = write;
  const StepChunk chunk{
      .tokens = ids, .own = {.tokens = 16, .blocks = {&read, 1}}, .writes = {&write, 1}};
  ASSERT_TRUE(device->Run({&chunk, 1}, {}).ok());
  const StoredBlock block{{pool.data(), block_bytes}, 16};
  Checksum sum;
  device->Sum({&block, 1}, {&sum, 1});
  EXPECT_EQ(sum, ChecksumOf(block.bytes));
  device->UsePool({}, {});
}

// Whatever the step that failed had begun to keep.
TEST_F(CudaDeviceTest, AStepWithoutMemoryFailsAndSmallerOnesGoOn) {
  if (!HasChosenMemory()) GTEST_SKIP() << "a GPU has the memory that it has";
  CudaDevice::Options options;
  options.device.memory_bytes = std::size_t{16} << 20;  // 4096 blocks
  const auto device = Make(options), other = Make({});
  const std::size_t block_bytes = device->layout().block_bytes();
  constexpr std::size_t kChunks = 129, kBlocks = 32 * kChunks;
  const HostBuffer pool = *HostBuffer::Allocate(kBlocks * block_bytes);
  const std::vector<std::uint64_t> takes(kBlocks, 1);
  device->UsePool({pool.data(), kBlocks * block_bytes}, takes);
  std::vector<std::byte*> writes;
  for (std::size_t i = 0; i < kBlocks; ++i) writes.push_back(pool.data() + i * block_bytes);
  const std::vector<const std::byte*> reads(writes.begin(), writes.end());
  const std::vector<std::uint32_t> ids = Ids(8, 41);
  const auto first_logits = [&](CudaDevice& on) {
    const StepChunk chunk{.tokens = absl::MakeConstSpan(ids).first(40),
                          .own = {.tokens = 40, .blocks = absl::MakeConstSpan(reads).first(3)},
                          .writes = absl::MakeConstSpan(writes).first(3),
                          .logit_rows = LogitRows::kLast};
    std::vector<float> logits(96);
    const absl::Status status = on.Run({&chunk, 1}, absl::MakeSpan(logits));
    EXPECT_TRUE(status.ok()) << status;
    return logits;
  };
  const std::vector<float> wanted = first_logits(*other);
  EXPECT_TRUE(AreBitsEqual(first_logits(*device), wanted));
  std::vector<StepChunk> many;
  for (std::size_t i = 0; i < kChunks; ++i) {
    many.push_back(
        {.tokens = absl::MakeConstSpan(ids).last(1),
         .position = 511,
         .own = {.tokens = 512, .blocks = absl::MakeConstSpan(reads).subspan(32 * i, 32)},
         .first_row = 511,
         .writes = absl::MakeConstSpan(writes).subspan(32 * i + 31, 1)});
  }
  const absl::Status status = device->Run(many, {});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  const std::uint64_t loaded = device->blocks_loaded();
  EXPECT_TRUE(AreBitsEqual(first_logits(*device), wanted));
  const StepChunk next{.tokens = absl::MakeConstSpan(ids).last(1),
                       .position = 40,
                       .own = {.tokens = 41, .blocks = absl::MakeConstSpan(reads).first(3)},
                       .first_row = 40,
                       .writes = absl::MakeConstSpan(writes).subspan(2, 1)};
  EXPECT_TRUE(device->Run({&next, 1}, {}).ok());
  EXPECT_EQ(device->blocks_loaded(), loaded);  // all that the good steps stored is there
}

TEST_F(CudaDeviceTest, ChunkThatBreaksTheContractIsNamed) {
  const auto device = Make({});
  const std::vector<std::uint32_t> ids = {1, 2, 96};
  const HostBuffer pool = *HostBuffer::Allocate(device->layout().block_bytes());
  std::byte* const write = pool.data();
  const std::byte* const read = pool.data();
  StepChunk chunk{.tokens = ids, .own = {.tokens = 3, .blocks = {&read, 1}}, .writes = {&write, 1}};
  const absl::Status bad_token = device->Run({&chunk, 1}, {});
  EXPECT_NE(bad_token.message().find("chunk 0: token 96"), absl::string_view::npos) << bad_token;
  chunk.tokens = absl::MakeConstSpan(ids).first(2);
  chunk.own.tokens = 2;
  EXPECT_TRUE(device->Run({&chunk, 1}, {}).ok());
  chunk.logit_rows = LogitRows::kLast;
  const absl::Status no_room = device->Run({&chunk, 1}, {});
  EXPECT_NE(no_room.message().find("room for 0 logits, not for 1 rows"), absl::string_view::npos);
  EXPECT_TRUE(device->Run({}, {}).ok());
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
