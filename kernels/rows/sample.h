#ifndef CAIRN_KERNELS_ROWS_SAMPLE_H_
#define CAIRN_KERNELS_ROWS_SAMPLE_H_

#include <cstdint>
#include <string>

#include "kernels/sk/rt/runtime.h"

// What a sampler needs to know of a row of logits, without the row.

namespace cairn::kernels {

struct LogitSummary {
  std::uint32_t token;  // of the largest logit, the lowest on a tie; NaN never wins; 0 if none does
  float most;           // the largest logit; -inf if there is none
  // log of the sum of exp(logit): logit t has log probability logits[t] - log_sum. -inf where all
  // are; NaN where one is, or one is +inf.
  float log_sum;
};

struct SampleParams {
  const float* logits = nullptr;      // [row][vocabulary]
  LogitSummary* summaries = nullptr;  // [row]
  std::uint32_t vocabulary = 0;
  const std::uint32_t* row_count = nullptr;  // one word of device memory
  std::uint32_t rows_max = 0;                // the grid's size: rows beyond are not done
};

// What is wrong with the parameters, or "".
std::string Validate(const SampleParams& params);
rt::Status SummarizeLogits(rt::Stream& stream, const SampleParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ROWS_SAMPLE_H_
