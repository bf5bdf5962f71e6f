// Blocks between the host and the device: what is copied in, how often, and what comes back.
#include "tests/unit/device_cuda/cuda_device_fixture.h"

namespace cairn {
namespace {

// The same step, before and after there is a pool that the device writes to itself.
TEST_F(CudaDeviceTest, NewTokensReachTheHostWhicheverWay) {
  Load(AttentionWay::kTilesInPlace);
  const auto device = Make({});
  const HostBlocks first(*device, 1), second(*device, 1);
  const std::vector<std::uint64_t> takes(1, 1);
  const auto ids = Ids(2, 9);
  first.Fill(*device, ids, 1);
  device->UsePool(second.memory(), takes);
  second.Fill(*device, ids, 1);
  EXPECT_TRUE(first.memory() == second.memory());
  device->UsePool({}, {});
}

TEST_F(CudaDeviceTest, ReservedBlocksAreNotTakenAnew) {
  const auto device = Make({});
  ASSERT_TRUE(device->Reserve({.blocks = 4, .rows = 64, .requests = 8}).ok());
  const HostBlocks pool(*device, 4);
  const std::vector<std::uint64_t> takes(4, 1);
  device->UsePool(pool.memory(), takes);
  pool.Fill(*device, Ids(8, 60), 20);
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
  const HostBlocks arena(*device, 1), own(*device, 1);
  device->UseArena(std::make_shared<OneSlot>(arena.memory()));
  const auto ids = Ids(8, 1);
  const auto run = [&](CudaDevice& on, std::uint64_t version) {
    const std::byte* const in_arena = arena[0];
    const AttendedSegment context{
        .tokens = 16, .blocks = {&in_arena, 1}, .versions = {&version, 1}};
    StepChunk chunk = own.Chunk(ids);
    chunk.position = chunk.own.position = 16;
    chunk.context = {&context, 1};
    return LastLogits(on, chunk);
  };
  std::vector<float> last;
  for (const std::uint64_t version : {5, 6, 9}) {
    for (std::size_t i = 0; i < arena.memory().size(); ++i) {  // bf16 values of about 1
      arena[0][i] = i % 2 == 0 ? static_cast<std::byte>(i * version) : std::byte{0x3f};
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
  const HostBlocks pool(*device, 4);
  std::vector<std::uint64_t> takes(4, 1);
  device->UsePool(pool.memory(), takes);
  const std::vector<std::uint32_t> ids = Ids(8, 40);
  // Rows [first, first + rows) of the prompt; its last row's logits.
  const auto run = [&](CudaDevice& on, std::uint32_t first, std::uint32_t rows) {
    return LastLogits(on, pool.Chunk(absl::MakeConstSpan(ids).subspan(first, rows), first));
  };
  run(*device, 0, 30);
  const std::vector<float> kept = run(*device, 30, 5);
  run(*device, 35, 1);
  EXPECT_EQ(device->blocks_loaded(), 2u);  // both, when the third made the pool grow
  EXPECT_TRUE(AreBitsEqual(kept, run(*forgetful, 30, 5)));
  EXPECT_EQ(forgetful->blocks_loaded(), 2u);

  // Another owner's bytes in the first block; by its word alone the device can know.
  std::memcpy(pool[0], pool[1], pool.bytes_of(1).size());
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
  const HostBlocks pool(*device, 5);
  std::vector<std::uint64_t> takes(4, 1);
  device->UsePool(pool.memory().first(4 * device->layout().block_bytes()), takes);
  pool.Fill(*device, Ids(8, 40), 10);
  // Two whole blocks, one of 8 tokens, one of the pool that no step has seen, one beside the pool.
  std::vector<StoredBlock> blocks;
  for (std::uint32_t i = 0; i < 5; ++i) blocks.push_back({pool.bytes_of(i), i == 2 ? 8u : 16u});
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
  std::memset(pool[0], 0x41, pool.bytes_of(0).size());  // of another owner
  ++takes[0];
  expect_sums(1);
  device->UsePool({}, {});
  expect_sums(0);
  device->Sum({}, {});
}

// Blocks that a layout fills up to a page: what is behind the tokens was never on the device.
TEST_F(CudaDeviceTest, PaddedBlocksAreSummedAsTheCpuDoes) {
  LoadFile(RandomLlama({.hidden = 32,
                        .ffn = 32,
                        .q_heads = 1,
                        .kv_heads = 1,
                        .layers = 1,
                        .vocabulary = kVocabulary},
                       3));
  const auto device = Make({});
  const HostBlocks pool(*device, 1);
  ASSERT_LT(device->layout().token_bytes() * 16, pool.memory().size());
  const std::vector<std::uint64_t> takes(1, 1);
  device->UsePool(pool.memory(), takes);
  pool.Fill(*device, Ids(8, 16), 16);
  const StoredBlock block{pool.memory(), 16};
  Checksum sum;
  device->Sum({&block, 1}, {&sum, 1});
  EXPECT_EQ(sum, ChecksumOf(block.bytes));
  device->UsePool({}, {});
}

}  // namespace
}  // namespace cairn
