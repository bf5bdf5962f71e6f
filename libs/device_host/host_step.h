#ifndef CAIRN_LIBS_DEVICE_HOST_HOST_STEP_H_
#define CAIRN_LIBS_DEVICE_HOST_HOST_STEP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/host/attention_call.h"
#include "libs/ports/device.h"

namespace cairn {

// What a step's chunks are checked against.
struct HostStepLimits {
  host::KvShape kv;
  std::uint32_t vocabulary = 0;
  std::uint32_t positions_max = 0;
};

// HostStep is a step in the kernels' form: where each row's K and V go, what each chunk attends,
// and the items that attention is cut into. Views into the chunks that it was made from.
struct HostStep {
  struct Row {
    std::uint32_t token = 0;
    std::uint32_t slot = 0;  // in `block`
    std::byte* block = nullptr;
  };
  struct Chunk {
    std::uint32_t first = 0;  // its first row in the step
    std::vector<host::AttendedSegment> before;
    host::AttentionCall call;     // shape and segments; the device adds layer, q and out
    bool is_split = false;        // a long decode: its splits are items of their own
    std::size_t partials_at = 0;  // of its partial results, in floats
  };
  // One thread's piece of attention: rows of a chunk for one KV head, or one split of it.
  struct Item {
    std::uint32_t chunk = 0;
    std::uint32_t kv_head = 0;
    std::uint32_t begin = 0;  // rows, or splits where the chunk is split
    std::uint32_t end = 0;
  };
  std::vector<Row> rows;
  std::vector<Chunk> chunks;
  std::vector<Item> items;
  std::vector<Item> folds;  // (chunk, head) of the split chunks
  std::vector<std::uint32_t> logit_rows;
  std::vector<std::uint32_t> token_rows;  // of which only the chosen token is wanted
  std::size_t partial_floats = 0;
};

// INVALID_ARGUMENT naming the chunk if one breaks the contract of libs/ports/device.h.
absl::StatusOr<HostStep> PrepareHostStep(absl::Span<const StepChunk> chunks,
                                         const HostStepLimits& limits);

// Cuts the chunks' attention into items, once their calls are complete.
void CutAttention(std::uint32_t kv_heads, HostStep* step);

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_HOST_HOST_STEP_H_
