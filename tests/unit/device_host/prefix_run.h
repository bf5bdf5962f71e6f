#ifndef CAIRN_TESTS_UNIT_DEVICE_HOST_PREFIX_RUN_H_
#define CAIRN_TESTS_UNIT_DEVICE_HOST_PREFIX_RUN_H_

#include <gtest/gtest.h>

#include <vector>

#include "libs/base/units.h"
#include "libs/device_host/host_buffer.h"
#include "libs/ports/device.h"
#include "libs/ports/highest_logit.h"

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

// Prompts of one chunk each in one step: of some the token alone, of others logits. What tokens are
// chosen is checked against the logits of another run.
inline void ExpectTokensOfHighestLogits(Device& device,
                                        const std::vector<std::vector<std::uint32_t>>& prompts) {
  const std::uint32_t per_block = device.layout().shape().block_tokens;
  const std::size_t vocabulary = device.shape().vocabulary,
                    block_bytes = device.layout().block_bytes();
  const LogitRows outputs[] = {LogitRows::kLastToken, LogitRows::kAll, LogitRows::kNone,
                               LogitRows::kLast};
  std::size_t blocks = 0, logit_rows = 0, tokens = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    blocks += CeilDiv(prompts[i].size(), per_block);
    logit_rows += outputs[i % 4] == LogitRows::kAll ? prompts[i].size() : i % 4 == 3;
    tokens += i % 4 == 0;
  }
  const HostBuffer pool = *HostBuffer::Allocate(blocks * block_bytes);
  std::vector<std::byte*> writes;
  for (std::size_t i = 0; i < blocks; ++i) writes.push_back(pool.data() + i * block_bytes);
  const std::vector<const std::byte*> reads(writes.begin(), writes.end());
  std::vector<StepChunk> chunks;
  for (std::size_t i = 0, at = 0; i < prompts.size(); ++i) {
    const std::size_t count = CeilDiv(prompts[i].size(), per_block);
    chunks.push_back({.tokens = prompts[i],
                      .own = {.tokens = static_cast<std::uint32_t>(prompts[i].size()),
                              .blocks = absl::MakeConstSpan(reads).subspan(at, count)},
                      .writes = absl::MakeConstSpan(writes).subspan(at, count),
                      .logit_rows = outputs[i % 4]});
    at += count;
  }
  std::vector<float> logits(logit_rows * vocabulary);
  std::vector<std::uint32_t> chosen(tokens);
  const absl::Status status = device.Run(chunks, {absl::MakeSpan(logits), absl::MakeSpan(chosen)});
  ASSERT_TRUE(status.ok()) << status;
  std::size_t next_row = 0, next_token = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const std::vector<float> wanted = PrefixLogits(device, prompts[i], prompts[i].size());
    const auto last = absl::MakeConstSpan(wanted).last(vocabulary);
    if (outputs[i % 4] == LogitRows::kLastToken) {
      EXPECT_EQ(chosen[next_token++], HighestLogit(last)) << "prompt " << i;
    } else if (outputs[i % 4] != LogitRows::kNone) {
      const std::size_t rows = outputs[i % 4] == LogitRows::kAll ? prompts[i].size() : 1;
      const auto got =
          absl::MakeConstSpan(logits).subspan(next_row * vocabulary, rows * vocabulary);
      EXPECT_EQ(got, absl::MakeConstSpan(wanted).last(rows * vocabulary)) << "prompt " << i;
      next_row += rows;
    }
  }
}

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_DEVICE_HOST_PREFIX_RUN_H_
