#ifndef CAIRN_LIBS_DEVICE_CUDA_STEP_PLAN_H_
#define CAIRN_LIBS_DEVICE_CUDA_STEP_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/attention/attend.h"
#include "kernels/attention/decode.h"
#include "kernels/attention/prefill.h"
#include "kernels/rows/kv_rows.h"
#include "libs/device_cuda/cuda_math.h"
#include "libs/device_cuda/device_blocks.h"
#include "libs/ports/device.h"
#include "libs/ports/step_check.h"

namespace cairn {

// Chunks of at most so many rows are attended row by row, as decoding is, where that changes no bit
// (with AttentionWay::kTilesWgmma it does: there chunks of sampled tokens are, and no others). A
// row alone reads its keys once; a query tile reads them once for 64 rows, but by as few blocks as
// there are query heads: for a row of 32 heads over 8 KV heads the two are level at about ten rows.
inline constexpr std::uint32_t kDecodeChunkRows = 8;

// StepPlan is a step in the kernels' form. The same host block has the same slot of the device's
// pool wherever it is attended or written.
//
// Rows of short chunks come first, and their tiles last: so the kernels that decode have the head
// of the rows, and those that rotate keys the head of the tiles.
struct StepPlan {
  // One of each for every row.
  std::vector<std::uint32_t> tokens;
  std::vector<kernels::TokenPlace> places;
  std::vector<kernels::AttendRow> rows;
  std::vector<std::byte*> blocks;  // of the host, where the row's token is

  std::vector<kernels::RotateTile> tiles;  // chunk after chunk: its context's, then its own
  std::uint32_t rotated_tiles = 0;         // the first ones: their keys are read from the scratch
  // Rows with logits in the order of the chunks, then those whose token alone is wanted.
  std::vector<std::uint32_t> logit_rows;
  std::uint32_t token_rows = 0;           // the last ones of these
  std::vector<DeviceBlocks::Load> loads;  // what must be copied in first

  // Of AttentionWay::kTiles...: of the first first_items.size() rows, and of the others.
  kernels::DecodePlan decode;
  std::vector<kernels::QueryTile> query_tiles;
};

// How a model's rows are attended.
struct PlanOptions {
  AttentionWay attention = AttentionWay::kSimple;
  std::uint32_t head_dim = 0;  // of kTilesWgmma: how many rows a query tile may have
};

// Begins a step of `blocks`. INVALID_ARGUMENT naming the chunk if one breaks the contract of
// libs/ports/device.h; then none has begun.
absl::StatusOr<StepPlan> PlanStep(absl::Span<const StepChunk> chunks, const StepLimits& limits,
                                  const PlanOptions& options, DeviceBlocks* blocks);

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_STEP_PLAN_H_
