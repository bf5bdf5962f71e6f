#ifndef CAIRN_LIBS_PLACEMENT_PREFILL_COST_H_
#define CAIRN_LIBS_PLACEMENT_PREFILL_COST_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace cairn::placement {

// g(t): what prefilling t tokens from the start costs, so that going from s to t costs g(t) - g(s):
// a part per token (projections, recurrent layers) and one per pair of tokens (attention). The
// solvers want integers, hence nanoseconds and picoseconds. The default counts tokens: g(t) = t.
class PrefillCost {
 public:
  PrefillCost() = default;
  // INVALID_ARGUMENT: a negative part, or g(tokens_max) over limits::kCostMax (18 minutes).
  static absl::StatusOr<PrefillCost> Create(std::int64_t ns_per_token, std::int64_t ps_per_pair,
                                            std::uint32_t tokens_max);

  // Nondecreasing. `tokens` is at most tokens_max, or 2^32 - 1 for the default.
  std::int64_t At(std::uint32_t tokens) const;

 private:
  PrefillCost(std::int64_t ns_per_token, std::int64_t ps_per_pair)
      : ns_per_token_(ns_per_token), ps_per_pair_(ps_per_pair) {}
  std::int64_t ns_per_token_ = 1;
  std::int64_t ps_per_pair_ = 0;
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_PREFILL_COST_H_
