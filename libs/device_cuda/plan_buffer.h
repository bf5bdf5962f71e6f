#ifndef CAIRN_LIBS_DEVICE_CUDA_PLAN_BUFFER_H_
#define CAIRN_LIBS_DEVICE_CUDA_PLAN_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "libs/device_cuda/step_plan.h"

namespace cairn {

// The most that a step has of each: what grids are made for. Sizes are powers of two, so that steps
// share few shapes.
struct StepShape {
  std::uint32_t rows = 0;
  std::uint32_t decode_rows = 0;    // of these, attended row by row
  std::uint32_t rotated_tiles = 0;  // whose keys go through the scratch
  std::uint32_t query_tiles = 0;
  std::uint32_t logit_rows = 0;  // and of tokens; 0: none
  bool has_tokens = false;       // some of these rows' tokens are wanted
  bool takes_rows = false;       // new keys and values go to pinned rows, not to the host's blocks
  // No grid depends on these, only the memory for lists and for what the kernels leave behind.
  std::uint32_t tiles = 0;
  std::uint32_t decode_items = 0;

  static StepShape Of(const StepPlan& plan);
  // Room for both.
  StepShape Joined(const StepShape& other) const;
  // What launches depend on: all of it but the sizes of memory.
  StepShape Grids() const;
  friend auto operator<=>(const StepShape&, const StepShape&) = default;
};

// PlanBuffer lays plans out in one piece of memory, of which one copy takes what is used to the
// device. Where a list is depends only on the shape that there is room for.
class PlanBuffer {
 public:
  explicit PlanBuffer(const StepShape& room);
  std::size_t bytes() const { return bytes_; }
  // `plan` fits into the room; `to` has bytes() of it. Returns how many of them the plan uses.
  std::size_t Write(const StepPlan& plan, std::byte* to) const;

  // The lists of a plan that was written at `base`.
  const std::uint32_t* RowCount(const std::byte* base) const { return Count(base, 0); }
  const std::uint32_t* DecodeRowCount(const std::byte* base) const { return Count(base, 1); }
  const std::uint32_t* RotatedTileCount(const std::byte* base) const { return Count(base, 2); }
  const std::uint32_t* QueryTileCount(const std::byte* base) const { return Count(base, 3); }
  const std::uint32_t* LogitRowCount(const std::byte* base) const { return Count(base, 4); }
  const std::uint32_t* DecodeItemCount(const std::byte* base) const { return Count(base, 5); }

  const std::uint32_t* Tokens(const std::byte* base) const;
  std::byte* const* Blocks(const std::byte* base) const;  // of the host, of each row
  const kernels::TokenPlace* Places(const std::byte* base) const;
  const kernels::AttendRow* Rows(const std::byte* base) const;
  const std::uint32_t* FirstItems(const std::byte* base) const;  // of each decode row
  const kernels::QueryTile* QueryTiles(const std::byte* base) const;
  const std::uint32_t* LogitRows(const std::byte* base) const;
  const kernels::DecodeItem* DecodeItems(const std::byte* base) const;
  const kernels::RotateTile* Tiles(const std::byte* base) const;

 private:
  static const std::uint32_t* Count(const std::byte* base, std::size_t index) {
    return reinterpret_cast<const std::uint32_t*>(base) + index;
  }
  const StepShape room_;
  std::size_t tokens_at_ = 0, blocks_at_ = 0, places_at_ = 0, rows_at_ = 0, first_items_at_ = 0,
              query_tiles_at_ = 0, logit_rows_at_ = 0, items_at_ = 0, tiles_at_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_PLAN_BUFFER_H_
