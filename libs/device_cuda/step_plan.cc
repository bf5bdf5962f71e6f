#include "libs/device_cuda/step_plan.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "kernels/attention/prefill_wgmma.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

using kernels::kTileTokens;

// Every block that a step touches, in order of first sight, so that plans are the same on every
// machine.
class WantedBlocks {
 public:
  void AddChunk(const StepChunk& chunk, std::uint32_t block_tokens) {
    for (const AttendedSegment& segment : chunk.context) AddAll(segment);
    AddAll(chunk.own);
    for (std::size_t i = 0; i < chunk.writes.size(); ++i) {
      // What is written from its first token on holds nothing older that is attended.
      if (i > 0 || chunk.first_row % block_tokens == 0) Add(chunk.writes[i], 0).is_new = true;
    }
  }
  absl::Span<const DeviceBlocks::Wanted> list() const { return list_; }

 private:
  void AddAll(const AttendedSegment& segment) {
    for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
      Add(segment.blocks[i], segment.versions.empty() ? 0 : segment.versions[i]);
    }
  }
  // Where one address is named with two versions, the block has changed between two lookups: the
  // higher is what is there, and whoever names the lower will find out (promise 4).
  DeviceBlocks::Wanted& Add(const std::byte* block, std::uint64_t version) {
    const auto [it, is_first] = index_of_.try_emplace(block, list_.size());
    if (is_first) list_.push_back({.block = block, .version = version});
    DeviceBlocks::Wanted& wanted = list_[it->second];
    const bool is_known = wanted.version != 0 && version != 0;
    wanted.version = is_known ? std::max(wanted.version, version) : 0;
    return wanted;
  }
  absl::flat_hash_map<const std::byte*, std::size_t> index_of_;
  std::vector<DeviceBlocks::Wanted> list_;
};

// Adds chunks' tiles and rows, in two orders.
class PlanBuilder {
 public:
  PlanBuilder(absl::Span<const StepChunk> chunks, std::uint32_t block_tokens,
              const DeviceBlocks& blocks, StepPlan* plan)
      : chunks_(chunks), block_tokens_(block_tokens), blocks_(blocks), plan_(plan) {
    placed_.resize(chunks.size());
  }

  void AddTiles(std::size_t chunk) {
    placed_[chunk].first_tile = static_cast<std::uint32_t>(plan_->tiles.size());
    for (const AttendedSegment& segment : chunks_[chunk].context) AddTilesOf(segment);
    placed_[chunk].context_tiles =
        static_cast<std::uint32_t>(plan_->tiles.size()) - placed_[chunk].first_tile;
    AddTilesOf(chunks_[chunk].own);
  }

  // After its tiles.
  void AddRows(std::size_t index) {
    const StepChunk& chunk = chunks_[index];
    Placed& placed = placed_[index];
    placed.first_row = static_cast<std::uint32_t>(plan_->rows.size());
    const std::uint32_t first_block = chunk.first_row / block_tokens_;
    for (std::uint32_t i = 0; i < chunk.tokens.size(); ++i) {
      const std::uint32_t at = chunk.first_row + i;  // in the own segment
      std::byte* block = chunk.writes[at / block_tokens_ - first_block];
      plan_->tokens.push_back(chunk.tokens[i]);
      plan_->places.push_back({blocks_.SlotOf(block), at % block_tokens_});
      plan_->blocks.push_back(block);
      plan_->rows.push_back({.first_tile = placed.first_tile,
                             .tile_count = placed.context_tiles + at / kTileTokens + 1,
                             .last_tokens = at % kTileTokens + 1,
                             .position = static_cast<std::uint32_t>(chunk.own.position) + at});
    }
  }

  // After all rows.
  void AddLogitRows() {
    std::vector<std::uint32_t> token_rows;
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      const std::uint32_t first = placed_[i].first_row;
      const std::uint32_t end = first + static_cast<std::uint32_t>(chunks_[i].tokens.size());
      switch (chunks_[i].logit_rows) {
        case LogitRows::kNone:
          break;
        case LogitRows::kLast:
          plan_->logit_rows.push_back(end - 1);
          break;
        case LogitRows::kAll:
          for (std::uint32_t row = first; row < end; ++row) plan_->logit_rows.push_back(row);
          break;
        case LogitRows::kLastToken:
          token_rows.push_back(end - 1);
          break;
      }
    }
    plan_->token_rows = static_cast<std::uint32_t>(token_rows.size());
    plan_->logit_rows.insert(plan_->logit_rows.end(), token_rows.begin(), token_rows.end());
  }

 private:
  struct Placed {
    std::uint32_t first_tile = 0, context_tiles = 0, first_row = 0;
  };

  void AddTilesOf(const AttendedSegment& segment) {
    for (std::uint32_t begin = 0; begin < segment.tokens; begin += kTileTokens) {
      kernels::RotateTile tile{{},
                               std::min(kTileTokens, segment.tokens - begin),
                               static_cast<std::uint32_t>(segment.position) + begin};
      for (std::uint32_t i = 0; i * block_tokens_ < tile.tokens; ++i) {
        tile.slots[i] = blocks_.SlotOf(segment.blocks[begin / block_tokens_ + i]);
      }
      plan_->tiles.push_back(tile);
    }
  }

  const absl::Span<const StepChunk> chunks_;
  const std::uint32_t block_tokens_;
  const DeviceBlocks& blocks_;
  StepPlan* const plan_;
  std::vector<Placed> placed_;  // by chunk
};

bool IsRowByRow(const StepChunk& chunk, AttentionWay way) {
  if (way == AttentionWay::kSimple) return false;
  return way == AttentionWay::kTilesWgmma ? chunk.is_generated
                                          : chunk.tokens.size() <= kDecodeChunkRows;
}

}  // namespace

absl::StatusOr<StepPlan> PlanStep(absl::Span<const StepChunk> chunks, const StepLimits& limits,
                                  const PlanOptions& options, DeviceBlocks* blocks) {
  CAIRN_RETURN_IF_ERROR(CheckStep(chunks, limits));
  const AttentionWay way = options.attention;
  WantedBlocks wanted;
  std::vector<std::size_t> row_by_row, together;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    wanted.AddChunk(chunks[i], limits.block_tokens);
    (IsRowByRow(chunks[i], way) ? row_by_row : together).push_back(i);
  }
  StepPlan plan;
  plan.loads = blocks->Begin(wanted.list());
  PlanBuilder builder(chunks, limits.block_tokens, *blocks, &plan);
  for (const std::size_t i : together) builder.AddTiles(i);
  plan.rotated_tiles = static_cast<std::uint32_t>(plan.tiles.size());
  for (const std::size_t i : row_by_row) builder.AddTiles(i);
  if (way == AttentionWay::kTilesScratch) {
    plan.rotated_tiles = static_cast<std::uint32_t>(plan.tiles.size());
  }
  for (const std::size_t i : row_by_row) builder.AddRows(i);
  plan.decode = kernels::PlanDecode(plan.rows);
  const auto decode_rows = static_cast<std::uint32_t>(plan.rows.size());
  for (const std::size_t i : together) builder.AddRows(i);
  if (way != AttentionWay::kSimple) {
    const std::uint32_t rows_max = way == AttentionWay::kTilesWgmma
                                       ? kernels::WgmmaQueryTileRows(options.head_dim)
                                       : kernels::kQueryTileRows;
    plan.query_tiles = kernels::PlanQueryTiles(plan.rows, decode_rows, rows_max);
  }
  builder.AddLogitRows();
  return plan;
}

}  // namespace cairn
