#ifndef CAIRN_LIBS_PLACEMENT_LINE_PROBLEM_H_
#define CAIRN_LIBS_PLACEMENT_LINE_PROBLEM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cairn::placement {

// Where to keep states on ONE stored prefix. A later request agrees with the prefix down to some
// usable depth t; it resumes at the deepest state at or above t and computes g(t) - g(resume)
// again. Choosing at most M new depths that minimise the expected cost is a one-sided weighted
// k-median on a line; states that are there already are facilities without a price ("Sparse Prefix
// Caching", arXiv 2605.05219; G. Woeginger, Oper. Res. Lett. 27 (2000) 93-96 for the line).
//
// Depths and costs are the caller's units (tokens or blocks; tokens, microseconds...). Weights
// count claims, usually quantised (overlap_law.h); only their ratios matter.

// All claims whose usable depth is `depth`. A new state may stand at the depth of any atom: some
// optimum uses no other depth. Depths on the grid only: the caller floors them, and the part below
// the grid position is a constant that no plan changes.
struct LineAtom {
  std::uint32_t depth = 0;
  std::int64_t cost = 0;    // g(depth), 0 .. limits::kCostMax
  std::int64_t weight = 0;  // at least 0; an atom of weight 0 changes nothing
};

// A state that is there already.
struct HeldState {
  std::uint32_t depth = 0;
  std::int64_t cost = 0;  // g(depth)
};

struct LineProblem {
  std::vector<LineAtom> atoms;  // strictly ascending by depth, costs nondecreasing
  std::vector<HeldState> held;  // the same
  std::int64_t base_cost = 0;   // g where everything resumes at least: 0, or a resume point's
};

// New states at `depths`, ascending. `cost` is the sum over atoms of weight x (g(depth) -
// g(resume)); `saved` is sum of weight x (g - base_cost) less that.
struct LinePlan {
  std::vector<std::uint32_t> depths;
  std::int64_t cost = 0;
  std::int64_t saved = 0;
};

// INVALID_ARGUMENT, naming the first offender: depths out of order, costs that fall as depth grows
// (atoms and held states taken together) or lie below base_cost, a negative weight, or anything
// beyond limits.h (sum of weight x (cost - base_cost) included).
absl::Status ValidateLine(const LineProblem& problem);

// What the new states at `depths` (any depths at which an atom or a held state stands) would cost.
// Straight from the definition, O(K + D log K): it prices any plan, whoever made it.
absl::StatusOr<std::int64_t> LineCost(const LineProblem& problem,
                                      absl::Span<const std::uint32_t> depths);

// The problem as a prefix of usable length `depth` sees it (g there is `cost`): claims that would
// go deeper end at `depth` exactly, so their weight becomes an atom there. O(K).
absl::StatusOr<LineProblem> CensorLine(const LineProblem& problem, std::uint32_t depth,
                                       std::int64_t cost);

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_LINE_PROBLEM_H_
