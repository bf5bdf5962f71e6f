#ifndef CAIRN_LIBS_PORTS_STEP_CHECK_H_
#define CAIRN_LIBS_PORTS_STEP_CHECK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"
#include "libs/ports/device.h"

// The contract of Device::Run's chunks, in code: every device checks it by CheckStep.

namespace cairn {

struct StepLimits {
  std::uint32_t block_tokens = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t positions_max = 0;
};

inline absl::Status CheckSegment(const AttendedSegment& segment, const StepLimits& limits) {
  if (segment.position > limits.positions_max ||
      segment.tokens > limits.positions_max - segment.position) {
    return absl::InvalidArgumentError(absl::StrCat(
        "positions up to ", segment.position + segment.tokens, " of ", limits.positions_max));
  }
  if (segment.blocks.size() != CeilDiv(segment.tokens, limits.block_tokens)) {
    return absl::InvalidArgumentError("wrong number of blocks");
  }
  if (!segment.versions.empty() && segment.versions.size() != segment.blocks.size()) {
    return absl::InvalidArgumentError("wrong number of versions");
  }
  const bool has_hole = std::any_of(segment.blocks.begin(), segment.blocks.end(),
                                    [](const std::byte* block) { return block == nullptr; });
  return has_hole ? absl::InvalidArgumentError("a block is missing") : absl::OkStatus();
}

inline absl::Status CheckChunk(const StepChunk& chunk, const StepLimits& limits) {
  if (chunk.tokens.empty()) return absl::InvalidArgumentError("no rows");
  for (const std::uint32_t token : chunk.tokens) {
    if (token >= limits.vocabulary) {
      return absl::InvalidArgumentError(
          absl::StrCat("token ", token, " of a vocabulary of ", limits.vocabulary));
    }
  }
  for (const AttendedSegment& segment : chunk.context) {
    CAIRN_RETURN_IF_ERROR(CheckSegment(segment, limits));
  }
  CAIRN_RETURN_IF_ERROR(CheckSegment(chunk.own, limits));
  if (chunk.own.tokens != chunk.first_row + chunk.tokens.size() ||
      chunk.position != chunk.own.position + chunk.first_row) {
    return absl::InvalidArgumentError("rows and own segment disagree");
  }
  const std::size_t first_block = chunk.first_row / limits.block_tokens;
  if (chunk.writes.size() != chunk.own.blocks.size() - first_block) {
    return absl::InvalidArgumentError("wrong number of blocks to write");
  }
  for (std::size_t i = 0; i < chunk.writes.size(); ++i) {
    if (chunk.writes[i] != chunk.own.blocks[first_block + i]) {
      return absl::InvalidArgumentError("a block to write is not the one that is read");
    }
  }
  return absl::OkStatus();
}

// INVALID_ARGUMENT naming the chunk that breaks the contract.
inline absl::Status CheckStep(absl::Span<const StepChunk> chunks, const StepLimits& limits) {
  std::size_t rows = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    absl::Status status = CheckChunk(chunks[i], limits);
    rows += chunks[i].tokens.size();
    if (status.ok() && rows > limits::kStepRowsMax) {
      status = absl::InvalidArgumentError("more rows than a step may have");
    }
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("chunk ", i, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

// INVALID_ARGUMENT where `output` is not what the chunks ask for.
inline absl::Status CheckOutput(absl::Span<const StepChunk> chunks, const StepLimits& limits,
                                const StepOutput& output) {
  std::size_t logit_rows = 0, tokens = 0;
  for (const StepChunk& chunk : chunks) {
    if (chunk.logit_rows == LogitRows::kLast) ++logit_rows;
    if (chunk.logit_rows == LogitRows::kAll) logit_rows += chunk.tokens.size();
    if (chunk.logit_rows == LogitRows::kLastToken) ++tokens;
  }
  if (output.logits.size() != logit_rows * limits.vocabulary) {
    return absl::InvalidArgumentError(
        absl::StrCat("room for ", output.logits.size(), " logits, not for ", logit_rows, " rows"));
  }
  if (output.tokens.size() != tokens) {
    return absl::InvalidArgumentError(
        absl::StrCat("room for ", output.tokens.size(), " tokens, not for ", tokens));
  }
  return absl::OkStatus();
}

}  // namespace cairn
#endif  // CAIRN_LIBS_PORTS_STEP_CHECK_H_
