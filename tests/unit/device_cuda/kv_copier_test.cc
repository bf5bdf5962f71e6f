#include "libs/device_cuda/kv_copier.h"

#include <gtest/gtest.h>

#include <algorithm>
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
    const auto copier = *KvCopier::Create(*device, layout, BlockCopies::kEngine);
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

// An arena of pieces in memory of their own.
class PiecewiseArena : public SharedArena {
 public:
  explicit PiecewiseArena(const std::vector<std::vector<std::byte>>& pieces) : pieces_(pieces) {}
  std::vector<absl::Span<const std::byte>> pieces() const override {
    return {pieces_.begin(), pieces_.end()};
  }

 private:
  const std::vector<std::vector<std::byte>> pieces_;
};

// A pool of two blocks with a third behind it, an arena of two pieces of two blocks, and a block
// that is nowhere.
class KvCopierPlacesTest : public testing::TestWithParam<BlockCopies> {
 protected:
  static constexpr std::size_t kAll = 8;

  KvCopierPlacesTest() {
    EXPECT_TRUE(copier_->UsePool({memory_.data(), 2 * block_bytes_}, stream_).ok());
    copier_->UseArena(arena_);
    for (std::size_t i = 0; i < 3; ++i) blocks_.push_back(memory_.data() + i * block_bytes_);
    for (const absl::Span<const std::byte> piece : arena_->pieces()) {
      blocks_.push_back(piece.data());
      blocks_.push_back(piece.data() + block_bytes_);
    }
    blocks_.push_back(elsewhere_.data());
  }

  // Loads all blocks to slots in another order, and changes `elsewhere_` at once.
  void ExpectAllArrive() {
    constexpr std::uint32_t kSlots[kAll] = {3, 0, 6, 1, 7, 2, 5, 4};
    std::vector<DeviceBlocks::Load> loads;
    for (std::uint32_t slot = 0; slot < kAll; ++slot) {
      const std::size_t block = std::find(kSlots, kSlots + kAll, slot) - kSlots;
      loads.push_back({blocks_[block], slot});
    }
    const rt::Buffer pool = *Allocate(*device_, CudaMemory::kDevice, "a pool", kAll * block_bytes_);
    const rt::Buffer back = *Allocate(*device_, CudaMemory::kPinned, "a copy", pool.size());
    const absl::Status status = copier_->Load(loads, pool.bytes(), stream_);
    ASSERT_TRUE(status.ok()) << status;
    const std::vector<std::byte> before = elsewhere_;
    elsewhere_.assign(block_bytes_, std::byte{0x41});  // a staged block was read while Load ran
    ASSERT_TRUE(stream_.CopyAsync(back.bytes(), pool.bytes(), back.size()).ok());
    ASSERT_TRUE(stream_.Synchronize().ok());
    elsewhere_ = before;
    for (std::size_t i = 0; i < kAll; ++i) {
      EXPECT_EQ(std::memcmp(back.bytes() + kSlots[i] * block_bytes_, blocks_[i], block_bytes_), 0)
          << i;
    }
  }

  const KvLayout layout_ = LayoutOf(3, 16);
  const std::size_t block_bytes_ = layout_.block_bytes();
  Rng rng_{6};
  std::vector<std::byte> memory_ = RandomBytes(rng_, 3 * block_bytes_);
  std::vector<std::byte> elsewhere_ = RandomBytes(rng_, block_bytes_);
  std::unique_ptr<rt::Device> device_ = std::move(*rt::Device::Open({}));
  rt::Stream stream_ = std::move(*device_->OpenStream());
  std::unique_ptr<KvCopier> copier_ = *KvCopier::Create(*device_, layout_, GetParam());
  std::shared_ptr<PiecewiseArena> arena_ =
      std::make_shared<PiecewiseArena>(std::vector<std::vector<std::byte>>{
          RandomBytes(rng_, 2 * block_bytes_), RandomBytes(rng_, 2 * block_bytes_)});
  std::vector<const std::byte*> blocks_;
};
INSTANTIATE_TEST_SUITE_P(Ways, KvCopierPlacesTest,
                         testing::Values(BlockCopies::kEngine, BlockCopies::kKernel,
                                         BlockCopies::kMeasured));

TEST_P(KvCopierPlacesTest, BlocksArriveFromWhereverTheyAre) {
  ExpectAllArrive();
  EXPECT_NE(copier_->copies(), BlockCopies::kMeasured);
  ExpectAllArrive();
}

TEST_P(KvCopierPlacesTest, OnlyThePoolIsWrittenTo) {
  std::vector<std::byte*> blocks;
  for (std::size_t i = 0; i < 3; ++i) blocks.push_back(memory_.data() + i * block_bytes_);
  EXPECT_TRUE(copier_->AreWritable(absl::MakeSpan(blocks).first(2)));
  EXPECT_FALSE(copier_->AreWritable(blocks));
  std::byte* const ends_behind[] = {memory_.data() + block_bytes_ + 1};
  EXPECT_FALSE(copier_->AreWritable(ends_behind));
  ExpectAllArrive();  // what it registers is read-only
  std::byte* const in_arena[] = {const_cast<std::byte*>(blocks_[3])};
  EXPECT_FALSE(copier_->AreWritable(in_arena));
  EXPECT_TRUE(copier_->UsePool({}, stream_).ok());
  EXPECT_FALSE(copier_->AreWritable(absl::MakeSpan(blocks).first(1)));
}

// As on a driver that does not register mappings that cannot be written.
TEST_P(KvCopierPlacesTest, AnArenaThatCannotBeRegisteredIsStaged) {
  auto* const inside = const_cast<std::byte*>(blocks_[4]);
  const rt::Buffer in_the_way = std::move(*device_->RegisterHost(inside, 16, true));
  ExpectAllArrive();
  ExpectAllArrive();
}

// It is no longer touched, and may be unmapped.
TEST_P(KvCopierPlacesTest, AnArenaIsLetGo) {
  ExpectAllArrive();
  const std::weak_ptr<PiecewiseArena> watched = arena_;
  std::vector<std::byte> kept(arena_->pieces()[0].begin(), arena_->pieces()[0].end());
  const auto* const piece = arena_->pieces()[0].data();
  arena_.reset();
  EXPECT_FALSE(watched.expired());
  EXPECT_TRUE(device_->RegisterHost(const_cast<std::byte*>(piece), 16, true).status().ok() ==
              false);
  copier_->UseArena(nullptr);
  EXPECT_TRUE(watched.expired());
}

TEST(KvCopierTest, ATokenGoesToItsSlotsOnly) {
  const KvLayout layout = LayoutOf(3, 16);
  std::unique_ptr<rt::Device> device = std::move(*rt::Device::Open({}));
  const auto copier = *KvCopier::Create(*device, layout, BlockCopies::kEngine);
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
