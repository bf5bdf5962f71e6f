#ifndef CAIRN_LIBS_DEVICE_CUDA_PLAN_BUFFER_H_
#define CAIRN_LIBS_DEVICE_CUDA_PLAN_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "libs/device_cuda/step_plan.h"

namespace cairn {

// The most rows, tiles and rows with logits of a step: what grids, and the plan's places in memory,
// are made for. Sizes are powers of two, so that steps share few shapes.
struct StepShape {
  std::uint32_t rows = 0;
  std::uint32_t tiles = 0;
  std::uint32_t logit_rows = 0;  // 0: none

  static StepShape Of(const StepPlan& plan);
  friend auto operator<=>(const StepShape&, const StepShape&) = default;
};

// PlanBuffer lays a plan out in one piece of memory, which one copy takes to the device. Where a
// list is depends on the shape only.
class PlanBuffer {
 public:
  explicit PlanBuffer(const StepShape& shape);
  std::size_t bytes() const { return bytes_; }
  // `plan` fits into the shape; `to` has bytes() of room.
  void Write(const StepPlan& plan, std::byte* to) const;

  // The lists of a plan that was written at `base`.
  const std::uint32_t* RowCount(const std::byte* base) const { return Counts(base); }
  const std::uint32_t* TileCount(const std::byte* base) const { return Counts(base) + 1; }
  const std::uint32_t* LogitRowCount(const std::byte* base) const { return Counts(base) + 2; }
  const std::uint32_t* Tokens(const std::byte* base) const;
  std::byte* const* Blocks(const std::byte* base) const;  // of the host, of each row
  const kernels::TokenPlace* Places(const std::byte* base) const;
  const kernels::AttendRow* Rows(const std::byte* base) const;
  const kernels::RotateTile* Tiles(const std::byte* base) const;
  const std::uint32_t* LogitRows(const std::byte* base) const;

 private:
  static const std::uint32_t* Counts(const std::byte* base) {
    return reinterpret_cast<const std::uint32_t*>(base);
  }
  StepShape shape_;
  std::size_t tokens_at_ = 0, blocks_at_ = 0, places_at_ = 0, rows_at_ = 0, tiles_at_ = 0,
              logit_rows_at_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_PLAN_BUFFER_H_
