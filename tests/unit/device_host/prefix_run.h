#ifndef CAIRN_TESTS_UNIT_DEVICE_HOST_PREFIX_RUN_H_
#define CAIRN_TESTS_UNIT_DEVICE_HOST_PREFIX_RUN_H_

#include <gtest/gtest.h>

#include <vector>

#include "libs/base/units.h"
#include "libs/device_host/host_buffer.h"
#include "libs/ports/device.h"

namespace cairn {

// Logits of every token of one prefix prompt, computed in chunks of at most `rows_max` rows.
inline std::vector<float> PrefixLogits(Device& device, const std::vector<std::uint32_t>& ids,
                                       std::size_t rows_max) {
  const std::uint32_t per_block = device.layout().shape().block_tokens;
  const std::size_t blocks = CeilDiv(ids.size(), per_block);
  const HostBuffer pool = *HostBuffer::Allocate(blocks * device.layout().block_bytes());
  std::vector<std::byte*> writes;
  for (std::size_t i = 0; i < blocks; ++i) {
    writes.push_back(pool.data() + i * device.layout().block_bytes());
  }
  const std::vector<const std::byte*> reads(writes.begin(), writes.end());
  std::vector<float> logits;
  for (std::size_t first = 0; first < ids.size(); first += rows_max) {
    const std::size_t rows = std::min(rows_max, ids.size() - first);
    const std::size_t end_block = CeilDiv(first + rows, per_block);
    const std::size_t first_block = first / per_block;
    const StepChunk chunk{
        .tokens = absl::MakeConstSpan(ids).subspan(first, rows),
        .position = first,
        .own = {.tokens = static_cast<std::uint32_t>(first + rows),
                .blocks = absl::MakeConstSpan(reads).first(end_block)},
        .first_row = static_cast<std::uint32_t>(first),
        .writes = absl::MakeConstSpan(writes).subspan(first_block, end_block - first_block),
        .logit_rows = LogitRows::kAll};
    const std::size_t before = logits.size();
    logits.resize(before + rows * device.shape().vocabulary);
    const absl::Status status = device.Run({&chunk, 1}, absl::MakeSpan(logits).subspan(before));
    EXPECT_TRUE(status.ok()) << status;
  }
  return logits;
}

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_DEVICE_HOST_PREFIX_RUN_H_
