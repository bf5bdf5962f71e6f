#include "libs/device_cuda/cuda_weights.h"

#include <gtest/gtest.h>

#include "kernels/linear/packed.h"
#include "kernels/sk/number_soft.h"
#include "libs/base/bytes.h"
#include "libs/device_cuda/cuda_memory.h"
#include "libs/gguf/gguf_writer.h"
#include "tests/support/tiny_model.h"

namespace cairn {
namespace {

class CudaWeightsTest : public testing::Test {
 protected:
  absl::StatusOr<CudaLlamaWeights> Upload(CudaMath math) {
    return UploadLlamaWeights(gguf_, *ReadLlamaConfig(gguf_), math, *device_, stream_);
  }
  template <class T>
  std::vector<T> Read(const T* values, std::size_t count) {
    const rt::Buffer back = *Allocate(*device_, CudaMemory::kPinned, "a copy", count * sizeof(T));
    EXPECT_TRUE(stream_.CopyAsync(back.bytes(), values, count * sizeof(T)).ok());
    EXPECT_TRUE(stream_.Synchronize().ok());
    return std::vector<T>(back.as<T>(), back.as<T>() + count);
  }
  // The tensors' exact values, one after the other, rounded once.
  std::vector<std::uint16_t> Rounded(const std::vector<std::string>& names) {
    std::vector<std::uint16_t> values;
    for (const std::string& name : names) {
      for (const float x : gguf_.Find(name)->DequantiseAll()) {
        values.push_back(sk::soft::RoundBf16(x));
      }
    }
    return values;
  }
  void ExpectMatrix(const CudaMatrix& matrix, const std::vector<std::string>& names) {
    const std::vector<std::uint16_t> expected = Rounded(names);
    ASSERT_EQ(std::size_t{matrix.n} * matrix.k, expected.size()) << names[0];
    if (matrix.packed == nullptr) {
      EXPECT_EQ(Read(matrix.values, expected.size()), expected) << names[0];
      return;
    }
    EXPECT_EQ(matrix.values, nullptr);
    // What the kernel that packs makes of these values.
    const std::size_t packed_bytes = kernels::PackedWeightsBytes(matrix.n, matrix.k);
    const rt::Buffer plain =
        *Allocate(*device_, CudaMemory::kDevice, "a matrix", expected.size() * 2);
    const rt::Buffer packed = *Allocate(*device_, CudaMemory::kDevice, "a matrix", packed_bytes);
    const auto bytes = reinterpret_cast<const std::byte*>(expected.data());
    ASSERT_TRUE(CopyIn(*device_, stream_, {bytes, expected.size() * 2}, plain.bytes()).ok());
    ASSERT_TRUE(kernels::PackWeightsSimply(stream_, {.w = plain.as<std::uint16_t>(),
                                                     .packed = packed.as<std::uint16_t>(),
                                                     .n = matrix.n,
                                                     .k = matrix.k})
                    .ok());
    EXPECT_EQ(Read(matrix.packed, packed_bytes / 2),
              Read(packed.as<std::uint16_t>(), packed_bytes / 2))
        << names[0];
  }
  void ExpectMatrices(const CudaLlamaWeights& weights) {
    ASSERT_EQ(weights.layers.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      const CudaLlamaLayer& layer = weights.layers[i];
      const std::string blk = "blk." + std::to_string(i) + ".";
      ExpectMatrix(layer.q, {blk + "attn_q.weight"});
      ExpectMatrix(layer.kv, {blk + "attn_k.weight", blk + "attn_v.weight"});
      ExpectMatrix(layer.output, {blk + "attn_output.weight"});
      ExpectMatrix(layer.gate_up, {blk + "ffn_gate.weight", blk + "ffn_up.weight"});
      ExpectMatrix(layer.down, {blk + "ffn_down.weight"});
    }
    ExpectMatrix(weights.embedding, {"token_embd.weight"});
    ExpectMatrix(weights.head, {"token_embd.weight"});  // tied
  }

  std::string file_ = TinyLlama(3);  // of every tensor type
  GgufFile gguf_ = *GgufFile::Parse(AsBytes(file_));
  std::unique_ptr<rt::Device> device_ = std::move(*rt::Device::Open({}));
  rt::Stream stream_ = std::move(*device_->OpenStream());
};

TEST_F(CudaWeightsTest, MatricesAreTheExactValuesRoundedOnce) {
  const auto weights = Upload(CudaMath::kMma);
  ASSERT_TRUE(weights.ok()) << weights.status();
  ExpectMatrices(*weights);
  EXPECT_EQ(weights->head.values, weights->embedding.values);  // once for both
  for (std::size_t i = 0; i < 2; ++i) {
    const CudaLlamaLayer& layer = weights->layers[i];
    const std::string blk = "blk." + std::to_string(i) + ".";
    EXPECT_EQ(layer.q.packed, nullptr);
    EXPECT_EQ(Read(layer.ffn_norm, 64), gguf_.Find(blk + "ffn_norm.weight")->DequantiseAll());
    EXPECT_EQ(Read(layer.attention_norm, 64),
              gguf_.Find(blk + "attn_norm.weight")->DequantiseAll());
  }
  EXPECT_EQ(Read(weights->final_norm, 64), gguf_.Find("output_norm.weight")->DequantiseAll());
  EXPECT_TRUE(weights->frequency_divisors.empty());
}

TEST_F(CudaWeightsTest, ForWgmmaTheyArePacked) {
  for (const CudaMath math : {CudaMath::kWgmmaProducts, CudaMath::kWgmma}) {
    const auto weights = Upload(math);
    ASSERT_TRUE(weights.ok()) << weights.status();
    ExpectMatrices(*weights);
    EXPECT_NE(weights->head.packed, nullptr);
    EXPECT_NE(weights->embedding.values, nullptr);  // whose rows are read one by one
    EXPECT_NE(weights->layers[1].down.packed, nullptr);
  }
}

TEST_F(CudaWeightsTest, AMissingTensorIsNamed) {
  LlamaConfig config = *ReadLlamaConfig(gguf_);
  config.layers = 3;
  const auto weights = UploadLlamaWeights(gguf_, config, CudaMath::kMma, *device_, stream_);
  EXPECT_NE(weights.status().message().find("blk.2.attn_norm.weight"), absl::string_view::npos)
      << weights.status();
  config.layers = 2;
  config.ffn = 80;
  EXPECT_NE(UploadLlamaWeights(gguf_, config, CudaMath::kMma, *device_, stream_)
                .status()
                .message()
                .find("ffn_gate"),
            absl::string_view::npos);
}

TEST_F(CudaWeightsTest, MemoryThatIsNotThereIsNamed) {
  const auto buffer = Allocate(*device_, CudaMemory::kDevice, "KV blocks", std::size_t{1} << 50);
  EXPECT_EQ(buffer.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(buffer.status().message().find("1125899906842624 bytes of KV blocks"),
            absl::string_view::npos)
      << buffer.status();
}

}  // namespace
}  // namespace cairn
