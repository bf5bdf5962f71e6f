#include "libs/device_cuda/kv_copier.h"

#include <gtest/gtest.h>

#include <cstring>

#include "libs/base/rng.h"
#include "libs/device_cuda/cuda_memory.h"

namespace cairn {
namespace {

std::vector<std::byte> RandomBytes(Rng& rng, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.Below(256));
  return bytes;
}

KvLayout LayoutOf(std::uint32_t layers, std::uint32_t block_tokens) {
  return *KvLayout::Create(
      {.layers = layers, .kv_heads = 2, .head_dim = 32, .block_tokens = block_tokens});
}

TEST(KvCopierTest, BlocksArriveWhateverTheirNumber) {
  // A block of 2.5 MiB: three fill a stage, and eight go through it three times.
  const KvLayout layout = LayoutOf(320, 32);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    Rng rng(seed);
    rt::Device::Options options;
    options.seed = seed;
    std::unique_ptr<rt::Device> device = std::move(*rt::Device::Open(options));
    rt::Stream stream = std::move(*device->OpenStream());
    const auto copier = *KvCopier::Create(*device, layout);
    const std::size_t block_bytes = layout.block_bytes();
    std::vector<std::vector<std::byte>> blocks;
    std::vector<DeviceBlocks::Load> list;
    for (int i = 0; i < 8; ++i) blocks.push_back(RandomBytes(rng, block_bytes));
    // Slots 0 1 2 4 5 7 8 9: next to each other, and not.
    for (const auto& block : blocks) {
      const auto i = static_cast<std::uint32_t>(list.size());
      list.push_back({block.data(), i + (i > 2 ? 1 : 0) + (i > 4 ? 1 : 0)});
    }
    const rt::Buffer pool = *Allocate(*device, CudaMemory::kDevice, "a pool", 10 * block_bytes);
    const rt::Buffer back = *Allocate(*device, CudaMemory::kPinned, "a copy", 10 * block_bytes);
    ASSERT_TRUE(copier->Load(list, pool.bytes(), stream).ok());
    for (auto& block : blocks) block.assign(block_bytes, std::byte{0x41});  // read while Load ran
    ASSERT_TRUE(stream.CopyAsync(back.bytes(), pool.bytes(), back.size()).ok());
    ASSERT_TRUE(stream.Synchronize().ok());
    Rng again(seed);
    for (std::size_t i = 0; i < 8; ++i) {
      const std::vector<std::byte> expected = RandomBytes(again, block_bytes);
      EXPECT_EQ(
          std::memcmp(back.bytes() + list[i].slot * block_bytes, expected.data(), block_bytes), 0)
          << "block " << i << " seed " << seed;
    }
  }
}

TEST(KvCopierTest, BlocksOfARegisteredPoolAreCopiedFromWhereTheyAre) {
  const KvLayout layout = LayoutOf(3, 16);
  std::unique_ptr<rt::Device> device = std::move(*rt::Device::Open({}));
  rt::Stream stream = std::move(*device->OpenStream());
  const auto copier = *KvCopier::Create(*device, layout);
  const std::size_t block_bytes = layout.block_bytes();
  Rng rng(6);
  std::vector<std::byte> memory = RandomBytes(rng, 3 * block_bytes);
  std::vector<std::byte> elsewhere = RandomBytes(rng, block_bytes);
  copier->UsePool({memory.data(), 2 * block_bytes});  // the third is not of the pool
  std::vector<std::byte*> blocks;
  for (std::size_t i = 0; i < 3; ++i) blocks.push_back(memory.data() + i * block_bytes);
  EXPECT_TRUE(copier->AreRegistered(absl::MakeSpan(blocks).first(2)));
  EXPECT_FALSE(copier->AreRegistered(blocks));
  std::byte* const inside[] = {memory.data() + block_bytes + 1};  // ends behind the pool
  EXPECT_FALSE(copier->AreRegistered(inside));

  const rt::Buffer pool = *Allocate(*device, CudaMemory::kDevice, "a pool", 4 * block_bytes);
  const rt::Buffer back = *Allocate(*device, CudaMemory::kPinned, "a copy", 4 * block_bytes);
  const DeviceBlocks::Load loads[] = {
      {blocks[1], 0}, {elsewhere.data(), 1}, {blocks[0], 2}, {blocks[2], 3}};
  ASSERT_TRUE(copier->Load(loads, pool.bytes(), stream).ok());
  const std::vector<std::byte> before = elsewhere;
  elsewhere.assign(block_bytes, std::byte{0x41});  // a staged block was read while Load ran
  ASSERT_TRUE(stream.CopyAsync(back.bytes(), pool.bytes(), back.size()).ok());
  ASSERT_TRUE(stream.Synchronize().ok());
  const std::byte* expected[] = {blocks[1], before.data(), blocks[0], blocks[2]};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(std::memcmp(back.bytes() + i * block_bytes, expected[i], block_bytes), 0) << i;
  }
  copier->UsePool({});
  EXPECT_FALSE(copier->AreRegistered(absl::MakeSpan(blocks).first(1)));
}

TEST(KvCopierTest, ATokenGoesToItsSlotsOnly) {
  const KvLayout layout = LayoutOf(3, 16);
  std::unique_ptr<rt::Device> device = std::move(*rt::Device::Open({}));
  const auto copier = *KvCopier::Create(*device, layout);
  Rng rng(5);
  const std::vector<std::byte> fresh = RandomBytes(rng, layout.token_bytes());
  const std::vector<std::byte> before = RandomBytes(rng, layout.block_bytes());
  std::vector<std::byte> block = before, expected = before;
  copier->Store(fresh.data(), 11, block.data());
  const std::byte* from = fresh.data();
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    for (const bool is_value : {false, true}) {
      for (std::uint32_t head = 0; head < 2; ++head, from += layout.row_bytes()) {
        const std::uint64_t at =
            is_value ? layout.ValueOffset(layer, head) : layout.KeyOffset(layer, head);
        std::memcpy(expected.data() + at + 11 * layout.row_bytes(), from, layout.row_bytes());
      }
    }
  }
  EXPECT_NE(block, before);
  EXPECT_EQ(block, expected);
}

}  // namespace
}  // namespace cairn
