#ifndef CAIRN_TESTS_UNIT_PLACEMENT_LINE_CASES_H_
#define CAIRN_TESTS_UNIT_PLACEMENT_LINE_CASES_H_

#include <cstdint>
#include <ostream>
#include <vector>

#include "libs/base/rng.h"
#include "libs/placement/line_problem.h"

namespace cairn::placement {

// Problems for the solvers' tests, and slow solvers to compare with. None of them shares code with
// libs/placement beyond the problem's own type.

struct LineShape {
  std::uint32_t atoms_max = 9;
  std::int64_t weight_max = 4;  // small: many equal plans
  std::int64_t cost_step = 3;   // a third of the steps are 0: plateaus of g
  std::uint32_t held_in = 4;    // one depth in this many holds a state already; 0: none
};
LineProblem RandomLine(Rng& rng, const LineShape& shape);

// Claims 1 at every depth 1..n, cost = depth.
LineProblem UniformLine(std::uint32_t n);

// Every set of at most `states_max` depths; of the best ones the smallest, then the one whose last
// depth is deepest, and so on towards the front.
LinePlan SolveByTrying(const LineProblem& problem, std::uint32_t states_max);

// costs[m] for m = 0..states_max: the O(N^2 M) recurrence as the paper has it, over all atoms, and
// the same by divide and conquer (O(N M log N), from the monotone last step).
std::vector<std::int64_t> CostsByRecurrence(const LineProblem& problem, std::uint32_t states_max);
std::vector<std::int64_t> CostsByDivision(const LineProblem& problem, std::uint32_t states_max);

// For failure messages.
std::ostream& operator<<(std::ostream& out, const LineProblem& problem);

}  // namespace cairn::placement
#endif  // CAIRN_TESTS_UNIT_PLACEMENT_LINE_CASES_H_
