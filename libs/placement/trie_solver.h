#ifndef CAIRN_LIBS_PLACEMENT_TRIE_SOLVER_H_
#define CAIRN_LIBS_PLACEMENT_TRIE_SOLVER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "libs/placement/trie_problem.h"

namespace cairn::placement {

// The exact optimum with at most `states_max` new states: f(node, nearest state above, m), children
// merged by (max, +) convolution. O(nodes x depth x states^2) time and O(nodes x depth x states)
// memory: for small families, at most limits::kTrieCellsMax of them (else INVALID_ARGUMENT).
// Ties: the fewest states, then no state at the node nearer to the root.
absl::StatusOr<TriePlan> SolveTrie(const TrieProblem& trie, std::uint32_t states_max);

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_TRIE_SOLVER_H_
