#include "libs/device_host/llama_config.h"

#include <gtest/gtest.h>

#include "libs/base/bytes.h"
#include "libs/device_host/host_device.h"
#include "libs/gguf/gguf_writer.h"
#include "tests/support/tiny_model.h"

namespace cairn {
namespace {

// The metadata of a model, with one key replaced.
std::string WithUint(absl::string_view key, std::uint32_t value) {
  GgufWriter writer;
  writer.AddString("general.architecture", "llama");
  const std::pair<const char*, std::uint32_t> fields[] = {{"llama.block_count", 1},
                                                          {"llama.embedding_length", 64},
                                                          {"llama.feed_forward_length", 96},
                                                          {"llama.attention.head_count", 4},
                                                          {"llama.attention.head_count_kv", 2},
                                                          {"llama.context_length", 64},
                                                          {"llama.rope.dimension_count", 16}};
  for (const auto& [name, otherwise] : fields)
    writer.AddUint32(name, key == name ? value : otherwise);
  writer.AddFloat32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  const std::vector<float> embedding(64 * 8, 0.5f);
  writer.AddTensor("token_embd.weight", TensorType::kF32, {64, 8}, embedding);
  return std::move(writer).Finish();
}

absl::Status ConfigStatus(const std::string& file) {
  return ReadLlamaConfig(*GgufFile::Parse(AsBytes(file))).status();
}

TEST(LlamaConfigTest, ReadsTheTinyModel) {
  const std::string file = TinyLlama(1);
  const auto config = ReadLlamaConfig(*GgufFile::Parse(AsBytes(file)));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->head_dim, 16u);
  EXPECT_EQ(config->rotary_dim, 16u);
  EXPECT_EQ(config->vocabulary, 96u);
  EXPECT_EQ(config->positions_max, 512u);
}

TEST(LlamaConfigTest, ImpossibleValuesNameTheirKey) {
  EXPECT_TRUE(ConfigStatus(WithUint("", 0)).ok());
  for (const char* key :
       {"llama.block_count", "llama.embedding_length", "llama.attention.head_count",
        "llama.attention.head_count_kv", "llama.rope.dimension_count", "llama.context_length"}) {
    for (const std::uint32_t value : {0u, 0xffffffffu}) {
      const absl::Status status = ConfigStatus(WithUint(key, value));
      EXPECT_FALSE(status.ok()) << key << " = " << value;
    }
    EXPECT_NE(ConfigStatus(WithUint(key, 0)).message().find(key), absl::string_view::npos)
        << ConfigStatus(WithUint(key, 0));
  }
}

TEST(LlamaConfigTest, MissingTensorIsNamed) {
  const std::string file = WithUint("", 0);
  const GgufFile gguf = *GgufFile::Parse(AsBytes(file));
  const auto device = HostDevice::Create(gguf, {});
  EXPECT_NE(device.status().message().find("output_norm.weight"), absl::string_view::npos)
      << device.status();
}

TEST(LlamaConfigTest, OtherArchitectureIsRefused) {
  GgufWriter writer;
  writer.AddString("general.architecture", "mamba2");
  const std::string file = std::move(writer).Finish();
  EXPECT_EQ(ConfigStatus(file).code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace cairn
