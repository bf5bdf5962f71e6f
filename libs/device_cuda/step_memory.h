#ifndef CAIRN_LIBS_DEVICE_CUDA_STEP_MEMORY_H_
#define CAIRN_LIBS_DEVICE_CUDA_STEP_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/sk/rt/runtime.h"
#include "libs/device_cuda/plan_buffer.h"
#include "libs/device_host/llama_config.h"
#include "libs/layout/kv_layout.h"

namespace cairn {

// StepMemory is what steps run in, grown to the largest shape seen and kept.
//
// Only the pool's contents outlive a step, as long as it has room for `slots`.
class StepMemory {
 public:
  // RESOURCE_EXHAUSTED naming what there is no room for: then only what KeepPool has
  // named is kept, so that smaller steps find all the memory there is. `generation` changes when
  // any address does.
  absl::Status Reserve(rt::Device& device, const LlamaConfig& config, const KvLayout& layout,
                       const StepShape& shape, AttentionWay attention, std::uint32_t slots);

  std::uint64_t generation = 0;
  StepShape room;  // of plan

  // On the device.
  rt::Buffer plan;
  rt::Buffer pool;           // [slots][block_bytes]
  rt::Buffer scratch;        // [tile][kv_head][64][head_dim]: turned keys of one layer
  rt::Buffer x;              // [row][hidden] f32, the residual stream
  rt::Buffer normed;         // [row][hidden] bf16; also of the rows with logits
  rt::Buffer q;              // [row][q_heads][head_dim] bf16
  rt::Buffer kv;             // [row][K|V][kv_heads][head_dim] bf16, of one layer
  rt::Buffer attended;       // [row][q_heads][head_dim] f32
  rt::Buffer rounded;        // the same in bf16
  rt::Buffer gate_up;        // [row][2][ffn] f32
  rt::Buffer gated;          // [row][ffn] bf16
  rt::Buffer partials;       // of products
  rt::Buffer split_out;      // [decode item][q_heads][head_dim] f32
  rt::Buffer split_softmax;  // [decode item][q_heads][2] f32
  rt::Buffer logits;         // [logit row][vocabulary] f32
  rt::Buffer summaries;      // [logit row] kernels::LogitSummary

  // Pinned, on the host.
  rt::Buffer host_plan;
  rt::Buffer host_logits;     // of rows whose logits are wanted: grown by who copies them
  rt::Buffer host_summaries;  // [logit row]
  rt::Buffer fresh;  // [row][layer][K|V][kv_heads][head_dim] bf16, which the device writes to

  // The pool as it is outlives steps that find no memory.
  void KeepPool() { kept_pool_bytes_ = pool.size(); }

 private:
  void Shed();
  std::size_t kept_pool_bytes_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_STEP_MEMORY_H_
