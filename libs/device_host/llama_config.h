#ifndef CAIRN_LIBS_DEVICE_HOST_LLAMA_CONFIG_H_
#define CAIRN_LIBS_DEVICE_HOST_LLAMA_CONFIG_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "libs/gguf/gguf_file.h"

namespace cairn {

// The dimensions of a Llama-family model, out of a GGUF file's metadata.
struct LlamaConfig {
  std::uint32_t layers = 0;
  std::uint32_t hidden = 0;
  std::uint32_t ffn = 0;
  std::uint32_t q_heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t head_dim = 0;
  std::uint32_t rotary_dim = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t positions_max = 0;
  double rope_theta = 10000;
  double rope_linear_scale = 1;
  float norm_epsilon = 0;
  std::string name;  // general.name, for people
};

// UNIMPLEMENTED for another architecture or a scaling that is not built; INVALID_ARGUMENT naming
// the key for values that cannot be. Bounds: limits.h, group gguf.
absl::StatusOr<LlamaConfig> ReadLlamaConfig(const GgufFile& file);

// The canonical text of every parameter of the rotation (keys.md, identity field `rope`).
std::string RopeIdentityText(const LlamaConfig& config, bool has_frequency_divisors);

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_HOST_LLAMA_CONFIG_H_
