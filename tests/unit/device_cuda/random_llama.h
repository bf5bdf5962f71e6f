#ifndef CAIRN_TESTS_UNIT_DEVICE_CUDA_RANDOM_LLAMA_H_
#define CAIRN_TESTS_UNIT_DEVICE_CUDA_RANDOM_LLAMA_H_

#include <cstdint>
#include <string>

namespace cairn {

struct RandomLlamaShape {
  std::uint32_t hidden = 128;
  std::uint32_t ffn = 320;  // deep enough for two splits of its product
  std::uint32_t q_heads = 2;  // of 64: what the kernels on tiles do
  std::uint32_t kv_heads = 1;
  std::uint32_t rotary_dim = 0;  // 0: all of a head
  std::uint32_t layers = 3;
  std::uint32_t vocabulary = 256;
  std::uint32_t positions = 512;
};

// A random Llama as a GGUF file, the same for the same seed on every machine: matrices in BF16, so
// that a device that multiplies in bf16 has the CPU's weights, with a spread like a trained
// model's: a layer adds less to the residual stream than is there.
std::string RandomLlama(const RandomLlamaShape& shape, std::uint64_t seed);

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_DEVICE_CUDA_RANDOM_LLAMA_H_
