#ifndef CAIRN_TESTS_UNIT_PLACEMENT_TRIE_CASES_H_
#define CAIRN_TESTS_UNIT_PLACEMENT_TRIE_CASES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libs/base/rng.h"
#include "libs/placement/trie_problem.h"

namespace cairn::placement {

inline TrieProblem RandomTrie(Rng& rng, std::size_t nodes_max) {
  TrieProblem trie(1);
  const std::size_t nodes = 1 + rng.Below(nodes_max);
  while (trie.size() < nodes) {
    const auto parent = static_cast<std::uint32_t>(rng.Below(trie.size()));
    trie.push_back({.parent = parent,
                    .cost = trie[parent].cost + static_cast<std::int64_t>(rng.Below(4)),
                    .weight = static_cast<std::int64_t>(rng.Below(4)),
                    .is_held = rng.Chance(1, 6)});
  }
  return trie;
}

// best[m]: the most that m new states save, by trying every set of nodes.
inline std::vector<std::int64_t> SavedByTrying(const TrieProblem& trie) {
  std::vector<std::int64_t> best(trie.size(), 0);
  for (std::size_t bits = 0; bits < (std::size_t{1} << (trie.size() - 1)); ++bits) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t i = 1; i < trie.size(); ++i) {
      if ((bits >> (i - 1)) & 1) nodes.push_back(i);
    }
    best[nodes.size()] = std::max(best[nodes.size()], TrieSaved(trie, nodes));
  }
  for (std::size_t m = 1; m < best.size(); ++m) best[m] = std::max(best[m], best[m - 1]);
  return best;
}

}  // namespace cairn::placement
#endif  // CAIRN_TESTS_UNIT_PLACEMENT_TRIE_CASES_H_
