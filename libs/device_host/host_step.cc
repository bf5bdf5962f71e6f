#include "libs/device_host/host_step.h"

#include <algorithm>

#include "libs/base/status_macros.h"
#include "libs/base/units.h"
#include "libs/ports/step_check.h"

namespace cairn {
namespace {

constexpr std::uint32_t kItemRows = 64;     // the kernels read each key once for so many rows
constexpr std::uint32_t kSplitRowsMax = 4;  // chunks of so few rows are cut by splits instead

void AddRows(const StepChunk& chunk, std::uint32_t block_tokens, HostStep* step) {
  const std::uint32_t first_block = chunk.first_row / block_tokens;
  for (std::uint32_t i = 0; i < chunk.tokens.size(); ++i) {
    const std::uint32_t at = chunk.first_row + i;
    step->rows.push_back({.token = chunk.tokens[i],
                          .slot = at % block_tokens,
                          .block = chunk.writes[at / block_tokens - first_block]});
    const bool is_last = i + 1 == chunk.tokens.size();
    if (chunk.logit_rows == LogitRows::kAll || (chunk.logit_rows == LogitRows::kLast && is_last)) {
      step->logit_rows.push_back(static_cast<std::uint32_t>(step->rows.size() - 1));
    }
    if (chunk.logit_rows == LogitRows::kLastToken && is_last) {
      step->token_rows.push_back(static_cast<std::uint32_t>(step->rows.size() - 1));
    }
  }
}

}  // namespace

absl::StatusOr<HostStep> PrepareHostStep(absl::Span<const StepChunk> chunks,
                                         const HostStepLimits& limits) {
  CAIRN_RETURN_IF_ERROR(CheckStep(chunks, {.block_tokens = limits.kv.block_tokens,
                                           .vocabulary = limits.vocabulary,
                                           .positions_max = limits.positions_max}));
  HostStep step;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    HostStep::Chunk chunk{.first = static_cast<std::uint32_t>(step.rows.size())};
    for (const AttendedSegment& segment : chunks[i].context) {
      chunk.before.push_back({.position = static_cast<std::uint32_t>(segment.position),
                              .tokens = segment.tokens,
                              .blocks = segment.blocks.data()});
    }
    chunk.call.own_position = static_cast<std::uint32_t>(chunks[i].own.position);
    chunk.call.first_row = chunks[i].first_row;
    chunk.call.own_blocks = chunks[i].own.blocks.data();
    chunk.call.rows = static_cast<std::uint32_t>(chunks[i].tokens.size());
    AddRows(chunks[i], limits.kv.block_tokens, &step);
    step.chunks.push_back(std::move(chunk));
  }
  return step;
}

void CutAttention(std::uint32_t kv_heads, HostStep* step) {
  for (std::uint32_t i = 0; i < step->chunks.size(); ++i) {
    HostStep::Chunk& chunk = step->chunks[i];
    const auto splits = static_cast<std::uint32_t>(host::SplitCount(chunk.call));
    chunk.is_split = chunk.call.rows <= kSplitRowsMax && splits > 1;
    const std::uint32_t count = chunk.is_split ? splits : chunk.call.rows;
    const std::uint32_t stride = chunk.is_split ? 1 : kItemRows;
    for (std::uint32_t head = 0; head < kv_heads; ++head) {
      for (std::uint32_t begin = 0; begin < count; begin += stride) {
        step->items.push_back({i, head, begin, std::min(begin + stride, count)});
      }
      if (chunk.is_split) step->folds.push_back({.chunk = i, .kv_head = head});
    }
    if (chunk.is_split) {
      chunk.partials_at = step->partial_floats;
      step->partial_floats += RoundUp(host::PartialsFloats(chunk.call), 16);
    }
  }
}

}  // namespace cairn
