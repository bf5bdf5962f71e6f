#ifndef CAIRN_LIBS_DEVICE_CUDA_STEP_PLAN_H_
#define CAIRN_LIBS_DEVICE_CUDA_STEP_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/attention/attend.h"
#include "kernels/rows/kv_rows.h"
#include "libs/device_cuda/device_blocks.h"
#include "libs/ports/device.h"
#include "libs/ports/step_check.h"

namespace cairn {

// StepPlan is a step in the kernels' form. The same host block has the same slot of the device's
// pool wherever it is attended or written.
struct StepPlan {
  // One of each for every row.
  std::vector<std::uint32_t> tokens;
  std::vector<kernels::TokenPlace> places;
  std::vector<kernels::AttendRow> rows;
  std::vector<std::byte*> blocks;  // of the host, where the row's token is

  std::vector<kernels::RotateTile> tiles;  // chunk after chunk: its context's, then its own
  std::vector<std::uint32_t> logit_rows;
  std::vector<DeviceBlocks::Load> loads;  // what must be copied in first
};

// Begins a step of `blocks`. INVALID_ARGUMENT naming the chunk if one breaks the contract of
// libs/ports/device.h; then none has begun.
absl::StatusOr<StepPlan> PlanStep(absl::Span<const StepChunk> chunks, const StepLimits& limits,
                                  DeviceBlocks* blocks);

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_STEP_PLAN_H_
