#include "libs/placement/prefill_cost.h"

#include "absl/strings/str_cat.h"
#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

// Pairs of tokens in a causal prefill of t: t^2 / 2, in picoseconds; a nanosecond is a thousand.
__int128 CostOf(std::int64_t ns_per_token, std::int64_t ps_per_pair, std::uint32_t tokens) {
  const __int128 t = tokens;
  return ns_per_token * t + ps_per_pair * t * t / 2000;
}

}  // namespace

absl::StatusOr<PrefillCost> PrefillCost::Create(std::int64_t ns_per_token, std::int64_t ps_per_pair,
                                                std::uint32_t tokens_max) {
  if (ns_per_token < 0 || ps_per_pair < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "prefill cost of ", ns_per_token, " ns a token and ", ps_per_pair, " ps a pair: negative"));
  }
  if (ns_per_token > limits::kCostMax || ps_per_pair > limits::kCostMax ||
      CostOf(ns_per_token, ps_per_pair, tokens_max) > limits::kCostMax) {
    return absl::InvalidArgumentError(absl::StrCat("prefill cost of ", tokens_max, " tokens at ",
                                                   ns_per_token, " ns a token and ", ps_per_pair,
                                                   " ps a pair is over ", limits::kCostMax, " ns"));
  }
  return PrefillCost(ns_per_token, ps_per_pair);
}

std::int64_t PrefillCost::At(std::uint32_t tokens) const {
  return static_cast<std::int64_t>(CostOf(ns_per_token_, ps_per_pair_, tokens));
}

}  // namespace cairn::placement
