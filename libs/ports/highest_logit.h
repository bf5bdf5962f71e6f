#ifndef CAIRN_LIBS_PORTS_HIGHEST_LOGIT_H_
#define CAIRN_LIBS_PORTS_HIGHEST_LOGIT_H_

#include <cstdint>
#include <limits>

#include "absl/types/span.h"

namespace cairn {

// The token with the highest logit, of equals the lowest: what greedy sampling chooses, on every
// device. What is no number never wins; 0 if there is nothing else (a model with broken weights).
inline std::uint32_t HighestLogit(absl::Span<const float> logits) {
  float most = -std::numeric_limits<float>::infinity();
  std::uint32_t token = 0;
  for (std::uint32_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > most) {
      most = logits[i];
      token = i;
    }
  }
  return token;
}

}  // namespace cairn
#endif  // CAIRN_LIBS_PORTS_HIGHEST_LOGIT_H_
