#ifndef CAIRN_LIBS_PLACEMENT_LINE_SOLVER_H_
#define CAIRN_LIBS_PLACEMENT_LINE_SOLVER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "libs/placement/line_problem.h"

namespace cairn::placement {

// The optimum with at most `states_max` new states, exactly, in O(K M) time for K atoms with
// weight: the recurrence of line_cells.h. Ties: the fewest states, then the deepest (last one
// first), so the answer is the same on every machine. Memory 4 K M bytes of back pointers and 17 x
// 32 K of queues. INVALID_ARGUMENT as ValidateLine, or when K x M is over limits::kPlanCellsMax
// (SolveLargeLine has no such bound). states_max above K means K.
//
// With a price, a state that would save no more than `price` (weight x cost) is left out. Gains
// fall as states are added, so this is the optimum of savings less price x states, too.
absl::StatusOr<LinePlan> SolveLine(const LineProblem& problem, std::uint32_t states_max,
                                   std::int64_t price = 0);

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_LINE_SOLVER_H_
