#ifndef CAIRN_LIBS_PLACEMENT_ROBUSTNESS_H_
#define CAIRN_LIBS_PLACEMENT_ROBUSTNESS_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace cairn::placement {

// How much worse, per claim, a plan made from observations may be than the plan for the true law,
// with probability 1 - delta: for showing beside a plan, not for choosing it.
//
// Costs of any plan lie in 0..depth_max, and as a function of the depth they vary by at most
// 2 depth_max, so the gap is at most 4 depth_max times the largest error of the distribution
// (Dvoretzky-Kiefer-Wolfowitz with Massart's constant: sqrt(ln(2 / delta) / (2 n))), and at most
// depth_max times its L1 error (Weissman et al. 2003: sqrt(2 ln((2^atoms - 2) / delta) / n)). The
// second is smaller for few atoms; the smaller one is given, and never more than depth_max, which
// says nothing. Vacuous below some 30 observations; not valid for a moment chosen by looking.
//
// `observations`: the effective number, (sum of weights)^2 / sum of squares; `atoms`: depths that
// claims can have, known beforehand. INVALID_ARGUMENT: not positive, or delta not in (0, 1).
struct RobustnessInput {
  double observations = 0;
  std::uint32_t atoms = 0;
  double depth_max = 0;
  double delta = 0.05;
};
absl::StatusOr<double> RobustnessRadius(const RobustnessInput& input);

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_ROBUSTNESS_H_
