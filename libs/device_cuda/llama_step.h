#ifndef CAIRN_LIBS_DEVICE_CUDA_LLAMA_STEP_H_
#define CAIRN_LIBS_DEVICE_CUDA_LLAMA_STEP_H_

#include "absl/status/status.h"
#include "kernels/sk/rt/runtime.h"
#include "libs/device_cuda/cuda_weights.h"
#include "libs/device_cuda/step_memory.h"

namespace cairn {

// What a step's kernels read and write, besides each other's results.
struct LlamaStep {
  const LlamaConfig& config;
  const KvLayout& layout;
  const CudaLlamaWeights& weights;
  const float* rope_table;  // [position][rotary_dim / 2][cos, sin], on the device
  std::uint32_t rope_positions;
  const StepMemory& memory;
  StepShape shape;  // of which only Grids() counts
  AttentionWay attention = AttentionWay::kSimple;
  std::uint32_t multiprocessors = 0;
};

// Queues a step's kernels, from tokens to logits:
//
//   embed -> per layer: norm, q, k v, store k v of all rows,
//                       turn keys that are read from the scratch, attend (some rows one by one, the
//                       others together), round, output (added),
//                       norm, gate up, swiglu, down (added)
//   -> new k v of all layers to the host; norm, head for the wanted rows, and what they choose
//
// The plan and the pool's blocks are in memory by then, or on their way on the same stream. Grids
// and arguments depend on `step` only, counts come from the plan: what is queued may be captured.
absl::Status QueueLlamaStep(const LlamaStep& step, rt::Stream& stream);

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_LLAMA_STEP_H_
