#include "libs/device_cuda/step_memory.h"

#include <algorithm>
#include <utility>

#include "kernels/linear/linear.h"
#include "kernels/rows/sample.h"
#include "libs/base/status_macros.h"
#include "libs/device_cuda/cuda_memory.h"

namespace cairn {
namespace {

// The most that any product of the model needs.
std::size_t PartialBytes(const LlamaConfig& c, const StepShape& shape) {
  const std::uint32_t q_width = c.q_heads * c.head_dim, kv_width = c.kv_heads * c.head_dim;
  const std::size_t bytes[] = {
      kernels::LinearPartialsBytes(q_width, c.hidden, shape.rows),
      kernels::LinearPartialsBytes(2 * kv_width, c.hidden, shape.rows),
      kernels::LinearPartialsBytes(c.hidden, q_width, shape.rows),
      kernels::LinearPartialsBytes(2 * c.ffn, c.hidden, shape.rows),
      kernels::LinearPartialsBytes(c.hidden, c.ffn, shape.rows),
      shape.logit_rows == 0
          ? 0
          : kernels::LinearPartialsBytes(c.vocabulary, c.hidden, shape.logit_rows)};
  return *std::max_element(std::begin(bytes), std::end(bytes));
}

}  // namespace

absl::Status StepMemory::Reserve(rt::Device& device, const LlamaConfig& c, const KvLayout& layout,
                                 const StepShape& shape, AttentionWay attention,
                                 std::uint32_t slots) {
  const std::size_t rows = shape.rows, q_width = std::size_t{c.q_heads} * c.head_dim;
  const std::size_t kv_width = std::size_t{c.kv_heads} * c.head_dim;
  const StepShape joined = room.Joined(shape);
  if (joined != room) ++generation;  // the plan's lists move
  room = joined;
  const std::size_t plan_bytes = PlanBuffer(room).bytes();
  const std::size_t tile_bytes = kernels::kTileTokens * kv_width * 2;  // of keys
  const std::size_t scratch_bytes =
      shape.rotated_tiles * tile_bytes * (attention == AttentionWay::kTilesWgmma ? 2 : 1);
  const std::size_t fresh_bytes = shape.takes_rows ? rows * layout.token_bytes() : 0;
  const std::size_t logit_bytes = std::size_t{shape.logit_rows} * c.vocabulary * 4;
  const std::size_t summary_bytes =
      shape.has_tokens ? shape.logit_rows * sizeof(kernels::LogitSummary) : 0;
  const struct {
    rt::Buffer* buffer;
    const char* purpose;
    std::size_t bytes;
    CudaMemory memory = CudaMemory::kDevice;
  } wanted[] = {
      {&plan, "a step's plan", plan_bytes},
      {&pool, "KV blocks", std::size_t{slots} * layout.block_bytes()},
      {&scratch, "turned keys", scratch_bytes},
      {&x, "activations", rows * c.hidden * 4},
      {&normed, "activations", std::max<std::size_t>(rows, shape.logit_rows) * c.hidden * 2},
      {&q, "activations", rows * q_width * 2},
      {&kv, "activations", rows * kv_width * 4},
      {&attended, "activations", rows * q_width * 4},
      {&rounded, "activations", rows * q_width * 2},
      {&gate_up, "activations", rows * c.ffn * 8},
      {&gated, "activations", rows * c.ffn * 2},
      {&partials, "partial products", PartialBytes(c, shape)},
      {&split_out, "partial attention", shape.decode_items * q_width * 4},
      {&split_softmax, "partial attention", std::size_t{shape.decode_items} * c.q_heads * 8},
      {&logits, "logits", logit_bytes},
      {&summaries, "chosen tokens", summary_bytes},
      {&host_plan, "a step's plan", plan_bytes, CudaMemory::kPinned},
      {&fresh, "new keys and values", fresh_bytes, CudaMemory::kPinned},
      {&host_summaries, "chosen tokens", summary_bytes, CudaMemory::kPinned},
  };
  for (const auto& [buffer, purpose, bytes, memory] : wanted) {
    if (bytes <= buffer->size()) continue;
    ++generation;
    if (absl::Status grown = Grow(device, memory, purpose, bytes, buffer); !grown.ok()) {
      Shed();
      return grown;
    }
  }
  return absl::OkStatus();
}

void StepMemory::Shed() {
  StepMemory kept;
  kept.generation = generation + 1;
  kept.kept_pool_bytes_ = kept_pool_bytes_;
  if (pool.size() <= kept_pool_bytes_) kept.pool = std::move(pool);
  *this = std::move(kept);
}

}  // namespace cairn
