#ifndef CAIRN_LIBS_PLACEMENT_TRIE_PROBLEM_H_
#define CAIRN_LIBS_PLACEMENT_TRIE_PROBLEM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cairn::placement {

// Where to keep states on a whole trie of prefixes: a k-median on a directed tree. A claim at a
// node resumes at its nearest ancestor (itself included) with a state, or at the root, and pays
// weight x (cost - cost there). On a trie the optimum is NOT convex in the number of states, as it
// is on a line: root, one node at 1 with three leaves at 2, one claim a leaf, saves 3, 4, 6 with
// one, two and three.
struct TrieNode {
  std::uint32_t parent = 0;  // index of an earlier node; of node 0, the root, it is not looked at
  std::int64_t cost = 0;     // g(depth), not less than the parent's; the root's is 0
  std::int64_t weight = 0;   // claims that end here, at least 0
  bool is_held = false;      // has a state already, for nothing
};
using TrieProblem = std::vector<TrieNode>;

struct TriePlan {
  std::vector<std::uint32_t> nodes;  // new states, ascending
  std::int64_t saved = 0;            // beyond what held states save
};

// INVALID_ARGUMENT naming the node: a parent that does not come before it, a cost below its
// parent's or beyond limits::kCostMax, a negative weight, sum of weight x cost beyond
// limits::kTotalCostMax, no node, or more than `nodes_max`.
absl::Status ValidateTrie(const TrieProblem& trie, std::size_t nodes_max);

// What states at `nodes` save beyond those held, from the definition. The trie is valid.
std::int64_t TrieSaved(const TrieProblem& trie, absl::Span<const std::uint32_t> nodes);

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_TRIE_PROBLEM_H_
