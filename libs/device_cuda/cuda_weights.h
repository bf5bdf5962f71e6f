#ifndef CAIRN_LIBS_DEVICE_CUDA_CUDA_WEIGHTS_H_
#define CAIRN_LIBS_DEVICE_CUDA_CUDA_WEIGHTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kernels/sk/rt/runtime.h"
#include "libs/device_cuda/cuda_math.h"
#include "libs/device_host/llama_config.h"
#include "libs/gguf/gguf_file.h"

namespace cairn {

// A matrix on the device in bf16, the exactly dequantised values rounded once. In one form or the
// other.
struct CudaMatrix {
  const std::uint16_t* values = nullptr;  // [n][k]
  const std::uint16_t* packed = nullptr;  // for wgmma (kernels/linear/packed.h)
  std::uint32_t n = 0;
  std::uint32_t k = 0;
};
struct CudaLlamaLayer {
  const float* attention_norm = nullptr;
  CudaMatrix q;
  CudaMatrix kv;  // rows of K, then of V
  CudaMatrix output;
  const float* ffn_norm = nullptr;
  CudaMatrix gate_up;  // rows of gate, then of up
  CudaMatrix down;
};

// A Llama model's weights, in one piece of device memory.
struct CudaLlamaWeights {
  CudaMatrix embedding;
  CudaMatrix head;  // output.weight, or the embedding's values where the two are tied
  const float* final_norm = nullptr;
  std::vector<CudaLlamaLayer> layers;
  std::vector<float> frequency_divisors;  // rope_freqs.weight, on the host; empty if there is none
  rt::Buffer memory;
};

// Checks every tensor's shape against `config` and uploads it, matrices that are multiplied with in
// the form that `math` wants; `file` may go afterwards.
// INVALID_ARGUMENT or NOT_FOUND name the tensor; RESOURCE_EXHAUSTED the bytes that do not fit.
absl::StatusOr<CudaLlamaWeights> UploadLlamaWeights(const GgufFile& file, const LlamaConfig& config,
                                                    CudaMath math, rt::Device& device,
                                                    rt::Stream& stream);

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_CUDA_WEIGHTS_H_
