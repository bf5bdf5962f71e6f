#include "libs/placement/robustness.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace cairn::placement {

absl::StatusOr<double> RobustnessRadius(const RobustnessInput& input) {
  const bool is_positive = input.observations > 0 && input.depth_max > 0 && input.atoms > 0 &&
                           std::isfinite(input.observations) && std::isfinite(input.depth_max);
  if (!is_positive || !(input.delta > 0 && input.delta < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("robustness of ", input.observations, " observations of ", input.atoms,
                     " atoms up to ", input.depth_max, " at ", input.delta,
                     ": all must be positive and finite, the last below 1"));
  }
  if (input.atoms == 1) return 0.0;  // one depth: nothing to be wrong about
  const double n = input.observations;
  const double by_distribution = 4 * std::sqrt(std::log(2 / input.delta) / (2 * n));
  // ln(2^a - 2) without ever forming 2^a.
  const double a = input.atoms;
  const double log_sets = a * std::log(2.0) + std::log1p(-2 * std::exp2(-a));
  const double by_total_variation = std::sqrt(2 * (log_sets - std::log(input.delta)) / n);
  return input.depth_max * std::min({by_distribution, by_total_variation, 1.0});
}

}  // namespace cairn::placement
