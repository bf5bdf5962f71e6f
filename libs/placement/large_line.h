#ifndef CAIRN_LIBS_PLACEMENT_LARGE_LINE_H_
#define CAIRN_LIBS_PLACEMENT_LARGE_LINE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "libs/placement/line_problem.h"

namespace cairn::placement {

// The line for many states: on a line the optimum is convex in the number of states (the stretches'
// costs obey the quadrangle inequality, free facilities included), so a price per state finds it:
// O(K log(total cost)) time and O(K) memory, whatever M is. (Monge M-link paths: A. Aggarwal,
// B. Schieber, T. Tokuyama, Discrete Comput. Geom. 12 (1994) 263-280.)
//
// Equal gains make the number of states jump over M as the price moves. So only the VALUE comes
// from the price; a PLAN with exactly M is spliced from the optimum with the fewest and the one
// with the most states at that price: somewhere a step of the former spans a step of the latter,
// and there one may change over without loss.

// The least cost with at most `states_max` new states. INVALID_ARGUMENT as ValidateLine.
absl::StatusOr<std::int64_t> LargeLineCost(const LineProblem& problem, std::uint32_t states_max);

// A plan of that cost with at most `states_max` states, and no more than are needed. Where several
// are as good it may differ from SolveLine's, but is the same on every machine.
absl::StatusOr<LinePlan> SolveLargeLine(const LineProblem& problem, std::uint32_t states_max);

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_LARGE_LINE_H_
