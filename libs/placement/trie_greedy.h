#ifndef CAIRN_LIBS_PLACEMENT_TRIE_GREEDY_H_
#define CAIRN_LIBS_PLACEMENT_TRIE_GREEDY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "libs/placement/trie_problem.h"

namespace cairn::placement {

// One state after the other, each where it gains most: savings are submodular, so it reaches 1 -
// 1/e of the optimum (Nemhauser, Wolsey, Fisher, Math. Program. 14 (1978)), and only few gains are
// ever computed anew (Minoux's lazy evaluation). For large families: up to limits::kTrieNodesMax
// nodes. A gain costs O(depth). Ties: the lower index.
absl::StatusOr<TriePlan> GreedyTrie(const TrieProblem& trie, std::uint32_t states_max);

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_TRIE_GREEDY_H_
