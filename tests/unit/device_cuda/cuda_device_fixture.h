#ifndef CAIRN_TESTS_UNIT_DEVICE_CUDA_CUDA_DEVICE_FIXTURE_H_
#define CAIRN_TESTS_UNIT_DEVICE_CUDA_CUDA_DEVICE_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "libs/base/bytes.h"
#include "libs/base/rng.h"
#include "libs/base/units.h"
#include "libs/device_cuda/cuda_device.h"
#include "libs/device_host/host_buffer.h"
#include "tests/support/tiny_model.h"
#include "tests/unit/device_cuda/random_llama.h"

// Devices of small models, and steps of one request over blocks of the host: what the tests of
// CudaDevice share, each file being about one side of it.

namespace cairn {

class CudaDeviceTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kVocabulary = 96;  // of every model here

  // A model of this way of attention from now on; before, TinyLlama's.
  void Load(AttentionWay way) {
    if (way == AttentionWay::kTilesWgmma) math_ = CudaMath::kWgmma;
    RandomLlamaShape shape{.hidden = 128, .ffn = 96, .layers = 2, .vocabulary = kVocabulary};
    if (way == AttentionWay::kTilesScratch) shape.rotary_dim = 16;
    LoadFile(way == AttentionWay::kSimple ? TinyLlama(3) : RandomLlama(shape, 3));
  }
  void LoadFile(std::string file) {
    file_ = std::move(file);
    gguf_ = *GgufFile::Parse(AsBytes(file_));
  }
  std::unique_ptr<CudaDevice> Make(CudaDevice::Options options) {
    if (math_ != CudaMath::kMma) options.math = math_;
    auto device = CudaDevice::Create(gguf_, options);
    EXPECT_TRUE(device.ok()) << device.status();
    return *std::move(device);
  }
  // How much memory there is is an option of the emulated device only.
  bool HasChosenMemory() { return Make({})->device_name() == "emulated Hopper"; }
  std::unique_ptr<CudaDevice> MakeWithMemory(std::size_t bytes) {
    CudaDevice::Options options;
    options.device.memory_bytes = bytes;
    return Make(options);
  }

  static std::vector<std::uint32_t> Ids(std::uint64_t seed, std::size_t count) {
    Rng rng(seed);
    std::vector<std::uint32_t> ids(count);
    for (auto& id : ids) id = static_cast<std::uint32_t>(rng.Below(kVocabulary));
    return ids;
  }
  // The last row's logits of a step of one chunk.
  static std::vector<float> LastLogits(CudaDevice& device, StepChunk chunk) {
    chunk.logit_rows = LogitRows::kLast;
    std::vector<float> logits(kVocabulary);
    const absl::Status status = device.Run({&chunk, 1}, absl::MakeSpan(logits));
    EXPECT_TRUE(status.ok()) << status;
    return logits;
  }
  static bool AreBitsEqual(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  }

  std::string file_ = TinyLlama(3);
  GgufFile gguf_ = *GgufFile::Parse(AsBytes(file_));
  CudaMath math_ = CudaMath::kMma;
};

class CudaDeviceWayTest : public CudaDeviceTest, public testing::WithParamInterface<AttentionWay> {
 protected:
  CudaDeviceWayTest() { Load(GetParam()); }
};

// Blocks of 16 tokens of the host, next to each other: all a device's pool, or only a request's.
class HostBlocks {
 public:
  HostBlocks(const CudaDevice& device, std::size_t count)
      : block_bytes_(device.layout().block_bytes()),
        memory_(*HostBuffer::Allocate(count * block_bytes_)) {
    for (std::size_t i = 0; i < count; ++i) writes_.push_back(memory_.data() + i * block_bytes_);
    reads_.assign(writes_.begin(), writes_.end());
  }
  std::byte* operator[](std::size_t i) const { return writes_[i]; }
  absl::Span<const std::byte> bytes_of(std::size_t i) const { return {writes_[i], block_bytes_}; }
  absl::Span<const std::byte> memory() const {
    return {memory_.data(), writes_.size() * block_bytes_};
  }
  // Tokens of a prefix prompt, `position` the first one's, which has the blocks from `first_block`
  // on. Both this and `tokens` outlive it.
  StepChunk Chunk(absl::Span<const std::uint32_t> tokens, std::uint32_t position = 0,
                  std::size_t first_block = 0) const {
    const auto end = position + static_cast<std::uint32_t>(tokens.size());
    const std::size_t write = position / 16, count = CeilDiv(end, 16);
    return {
        .tokens = tokens,
        .position = position,
        .own = {.tokens = end, .blocks = absl::MakeConstSpan(reads_).subspan(first_block, count)},
        .first_row = position,
        .writes = absl::MakeConstSpan(writes_).subspan(first_block + write, count - write)};
  }
  // Computes a prefix prompt, `rows` tokens a step.
  void Fill(CudaDevice& device, absl::Span<const std::uint32_t> tokens, std::uint32_t rows) const {
    for (std::uint32_t first = 0; first < tokens.size(); first += rows) {
      const StepChunk chunk = Chunk(tokens.subspan(first, rows), first);
      const absl::Status status = device.Run({&chunk, 1}, {});
      EXPECT_TRUE(status.ok()) << status;
    }
  }

 private:
  const std::size_t block_bytes_;
  const HostBuffer memory_;
  std::vector<std::byte*> writes_;
  std::vector<const std::byte*> reads_;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_DEVICE_CUDA_CUDA_DEVICE_FIXTURE_H_
