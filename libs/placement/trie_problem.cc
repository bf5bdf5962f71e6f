#include "libs/placement/trie_problem.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "libs/placement/limits.h"

namespace cairn::placement {

absl::Status ValidateTrie(const TrieProblem& trie, std::size_t nodes_max) {
  if (trie.empty() || trie.size() > nodes_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("a trie of ", trie.size(), " nodes; 1..", nodes_max, " are taken"));
  }
  if (trie[0].cost != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("trie node 0, the root, has cost ", trie[0].cost, " and not 0"));
  }
  __int128 total = 0;
  __int128 weights = 0;
  for (std::size_t i = 0; i < trie.size(); ++i) {
    const TrieNode& node = trie[i];
    if (i > 0 && node.parent >= i) {
      return absl::InvalidArgumentError(
          absl::StrCat("trie node ", i, ": parent ", node.parent, " does not come before it"));
    }
    if ((i > 0 && node.cost < trie[node.parent].cost) || node.cost > limits::kCostMax) {
      return absl::InvalidArgumentError(absl::StrCat("trie node ", i, ": cost ", node.cost,
                                                     " is below its parent's or over ",
                                                     limits::kCostMax));
    }
    if (node.weight < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("trie node ", i, ": weight ", node.weight, " is negative"));
    }
    total += static_cast<__int128>(node.weight) * node.cost;
    weights += node.weight;
  }
  if (total > limits::kTotalCostMax || weights > limits::kTotalCostMax) {
    return absl::InvalidArgumentError(
        "trie: the weights are too large: their sum, or that of weight x cost, is over 2^61");
  }
  return absl::OkStatus();
}

std::int64_t TrieSaved(const TrieProblem& trie, absl::Span<const std::uint32_t> nodes) {
  std::vector<bool> is_new(trie.size(), false);
  for (const std::uint32_t node : nodes) is_new[node] = true;
  std::vector<std::int64_t> with(trie.size(), 0);     // cost at the nearest state
  std::vector<std::int64_t> without(trie.size(), 0);  // and at the nearest held one
  std::int64_t saved = 0;
  for (std::size_t i = 1; i < trie.size(); ++i) {
    const TrieNode& node = trie[i];
    with[i] = node.is_held || is_new[i] ? node.cost : with[node.parent];
    without[i] = node.is_held ? node.cost : without[node.parent];
    saved += node.weight * (with[i] - without[i]);
  }
  return saved;
}

}  // namespace cairn::placement
