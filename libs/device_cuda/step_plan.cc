#include "libs/device_cuda/step_plan.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

using kernels::kTileTokens;

// Every block that a step touches, in order of first sight, so that plans are the same on every
// machine.
class WantedBlocks {
 public:
  void AddChunk(const StepChunk& chunk, std::uint32_t block_tokens) {
    for (const AttendedSegment& segment : chunk.context) {
      for (const std::byte* block : segment.blocks) Add(block);
    }
    for (const std::byte* block : chunk.own.blocks) Add(block);
    for (std::size_t i = 0; i < chunk.writes.size(); ++i) {
      // What is written from its first token on holds nothing older that is attended.
      if (i > 0 || chunk.first_row % block_tokens == 0) Add(chunk.writes[i]).is_new = true;
    }
  }
  absl::Span<const DeviceBlocks::Wanted> list() const { return list_; }

 private:
  DeviceBlocks::Wanted& Add(const std::byte* block) {
    const auto [it, is_first] = index_of_.try_emplace(block, list_.size());
    if (is_first) list_.push_back({.block = block});
    return list_[it->second];
  }
  absl::flat_hash_map<const std::byte*, std::size_t> index_of_;
  std::vector<DeviceBlocks::Wanted> list_;
};

void AddTiles(const AttendedSegment& segment, std::uint32_t block_tokens,
              const DeviceBlocks& blocks, StepPlan* plan) {
  for (std::uint32_t begin = 0; begin < segment.tokens; begin += kTileTokens) {
    kernels::RotateTile tile{{},
                             std::min(kTileTokens, segment.tokens - begin),
                             static_cast<std::uint32_t>(segment.position) + begin};
    for (std::uint32_t i = 0; i * block_tokens < tile.tokens; ++i) {
      tile.slots[i] = blocks.SlotOf(segment.blocks[begin / block_tokens + i]);
    }
    plan->tiles.push_back(tile);
  }
}

void AddRows(const StepChunk& chunk, std::uint32_t block_tokens, const DeviceBlocks& blocks,
             std::uint32_t first_tile, std::uint32_t context_tiles, StepPlan* plan) {
  const std::uint32_t first_block = chunk.first_row / block_tokens;
  for (std::uint32_t i = 0; i < chunk.tokens.size(); ++i) {
    const std::uint32_t at = chunk.first_row + i;  // in the own segment
    std::byte* block = chunk.writes[at / block_tokens - first_block];
    plan->tokens.push_back(chunk.tokens[i]);
    plan->places.push_back({blocks.SlotOf(block), at % block_tokens});
    plan->blocks.push_back(block);
    plan->rows.push_back({.first_tile = first_tile,
                          .tile_count = context_tiles + at / kTileTokens + 1,
                          .last_tokens = at % kTileTokens + 1,
                          .position = static_cast<std::uint32_t>(chunk.own.position) + at});
    const bool is_last = i + 1 == chunk.tokens.size();
    if (chunk.logit_rows == LogitRows::kAll || (chunk.logit_rows == LogitRows::kLast && is_last)) {
      plan->logit_rows.push_back(static_cast<std::uint32_t>(plan->rows.size() - 1));
    }
  }
}

}  // namespace

absl::StatusOr<StepPlan> PlanStep(absl::Span<const StepChunk> chunks, const StepLimits& limits,
                                  DeviceBlocks* blocks) {
  CAIRN_RETURN_IF_ERROR(CheckStep(chunks, limits));
  WantedBlocks wanted;
  for (const StepChunk& chunk : chunks) wanted.AddChunk(chunk, limits.block_tokens);
  StepPlan plan;
  plan.loads = blocks->Begin(wanted.list());
  for (const StepChunk& chunk : chunks) {
    const auto first_tile = static_cast<std::uint32_t>(plan.tiles.size());
    for (const AttendedSegment& segment : chunk.context) {
      AddTiles(segment, limits.block_tokens, *blocks, &plan);
    }
    const auto context_tiles = static_cast<std::uint32_t>(plan.tiles.size()) - first_tile;
    AddTiles(chunk.own, limits.block_tokens, *blocks, &plan);
    AddRows(chunk, limits.block_tokens, *blocks, first_tile, context_tiles, &plan);
  }
  return plan;
}

}  // namespace cairn
