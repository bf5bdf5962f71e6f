#ifndef CAIRN_LIBS_DEVICE_HOST_LLAMA_WEIGHTS_H_
#define CAIRN_LIBS_DEVICE_HOST_LLAMA_WEIGHTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kernels/host/weights.h"
#include "libs/device_host/host_buffer.h"
#include "libs/device_host/host_threads.h"
#include "libs/device_host/llama_config.h"
#include "libs/gguf/gguf_file.h"

namespace cairn {

// A Llama model's weights in the form that the CPU kernels read: matrices in panels, in the type of
// the file (the kernels dequantise exactly, as they multiply), norms as floats.
struct LlamaLayer {
  std::vector<float> attention_norm;
  host::PackedMatrix q, k, v, output;
  std::vector<float> ffn_norm;
  host::PackedMatrix gate, up, down;
};
struct LlamaWeights {
  host::MatrixSource embedding;  // rows of the file itself
  host::PackedMatrix head;       // output.weight, or the embedding where the two are tied
  std::vector<float> final_norm;
  std::vector<LlamaLayer> layers;
  std::vector<float> frequency_divisors;  // rope_freqs.weight; empty if the model has none
  HostBuffer panels;                      // owns all packed matrices
};

// Checks every tensor's shape against `config` and packs it. The file's bytes must outlive the
// result. INVALID_ARGUMENT or NOT_FOUND name the tensor.
absl::StatusOr<LlamaWeights> LoadLlamaWeights(const GgufFile& file, const LlamaConfig& config,
                                              HostThreads& threads);

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_HOST_LLAMA_WEIGHTS_H_
