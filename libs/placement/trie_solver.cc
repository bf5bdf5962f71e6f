#include "libs/placement/trie_solver.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

using Gains = std::vector<std::int64_t>;  // [m]: the most that m states save

// The best split of m between two parts, for every m up to `states_max`.
Gains Merge(const Gains& a, const Gains& b, std::size_t states_max) {
  Gains merged(std::min(a.size() + b.size() - 2, states_max) + 1,
               std::numeric_limits<std::int64_t>::min());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size() && i + j < merged.size(); ++j) {
      merged[i + j] = std::max(merged[i + j], a[i] + b[j]);
    }
  }
  return merged;
}

class TrieSolver {
 public:
  TrieSolver(const TrieProblem& trie, std::uint32_t states_max)
      : trie_(trie), states_max_(states_max), children_(trie.size()), level_(trie.size(), 0) {
    for (std::uint32_t i = 1; i < trie.size(); ++i) {
      children_[trie[i].parent].push_back(i);
      level_[i] = level_[trie[i].parent] + 1;
    }
  }

  // (node, node above, states) triples of the tables, and what merging children holds at a time.
  std::size_t Cells() const {
    std::vector<std::size_t> sizes(trie_.size(), 1);
    for (std::size_t i = trie_.size() - 1; i > 0; --i) sizes[trie_[i].parent] += sizes[i];
    const auto row = [&](std::size_t i) { return std::min(states_max_, sizes[i]) + 1; };
    std::size_t cells = 0;
    for (std::size_t i = 1; i < trie_.size(); ++i) {
      cells += level_[i] * row(i) + row(trie_[i].parent);
    }
    return cells;
  }

  TriePlan Solve() {
    below_.resize(trie_.size());
    own_.resize(trie_.size());
    for (std::size_t i = trie_.size() - 1; i > 0; --i) Fill(static_cast<std::uint32_t>(i));
    const Gains gains = Children(0, 0).back();
    std::size_t fewest = gains.size() - 1;
    while (fewest > 0 && gains[fewest - 1] == gains.back()) --fewest;
    TriePlan plan{.nodes = {}, .saved = gains[fewest] - gains[0]};
    Split(0, 0, fewest);
    while (!steps_.empty()) {
      const Step step = steps_.back();
      steps_.pop_back();
      Take(step, plan);
    }
    std::sort(plan.nodes.begin(), plan.nodes.end());
    return plan;
  }

 private:
  struct Step {
    std::uint32_t node;
    std::uint32_t above;  // level of the nearest state above it
    std::size_t states;
  };

  // Gains of the children of `node`, one after the other merged in, the nearest state above them
  // being at `level`. The first is that of no child.
  std::vector<Gains> Children(std::uint32_t node, std::uint32_t level) const {
    std::vector<Gains> merged = {Gains{0}};
    for (const std::uint32_t child : children_[node]) {
      merged.push_back(Merge(merged.back(), below_[child][level], states_max_));
    }
    return merged;
  }

  // own_: with a state at the node, not counted; below_[level]: whatever is best for the nearest
  // state above being at that level.
  void Fill(std::uint32_t node) {
    own_[node] = Children(node, level_[node]).back();
    for (std::int64_t& gain : own_[node]) gain += trie_[node].weight * trie_[node].cost;
    below_[node].resize(level_[node]);
    std::uint32_t above = node;
    for (std::uint32_t level = level_[node]; level > 0; --level) {
      above = trie_[above].parent;
      Gains& gains = below_[node][level - 1];
      if (trie_[node].is_held) {
        gains = own_[node];
        continue;
      }
      gains = Children(node, level - 1).back();
      for (std::int64_t& gain : gains) gain += trie_[node].weight * trie_[above].cost;
      if (gains.size() < own_[node].size() + 1 && gains.size() <= states_max_) {
        gains.push_back(own_[node].back());  // a state at every node below
      }
      for (std::size_t m = 1; m < gains.size(); ++m) {
        gains[m] = std::max(gains[m], own_[node][m - 1]);
      }
    }
  }

  // Puts the children's shares of `states` on the steps to take.
  void Split(std::uint32_t node, std::uint32_t level, std::size_t states) {
    const std::vector<Gains> merged = Children(node, level);
    for (std::size_t c = children_[node].size(); c > 0; --c) {
      const std::uint32_t child = children_[node][c - 1];
      const Gains& gains = below_[child][level];
      std::size_t share = 0;
      while (share >= gains.size() || states - share >= merged[c - 1].size() ||
             merged[c - 1][states - share] + gains[share] != merged[c][states]) {
        ++share;
      }
      steps_.push_back({.node = child, .above = level, .states = share});
      states -= share;
    }
  }

  void Take(const Step& step, TriePlan& plan) {
    const std::uint32_t level = level_[step.node];
    if (trie_[step.node].is_held) return Split(step.node, level, step.states);
    const Gains without = Children(step.node, step.above).back();
    std::uint32_t above = step.node;
    for (std::uint32_t l = level; l > step.above; --l) above = trie_[above].parent;
    const bool is_without = step.states < without.size() &&
                            without[step.states] + trie_[step.node].weight * trie_[above].cost ==
                                below_[step.node][step.above][step.states];
    if (is_without) return Split(step.node, step.above, step.states);
    plan.nodes.push_back(step.node);
    Split(step.node, level, step.states - 1);
  }

  const TrieProblem& trie_;
  std::size_t states_max_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<std::uint32_t> level_;
  std::vector<std::vector<Gains>> below_;
  std::vector<Gains> own_;
  std::vector<Step> steps_;
};

}  // namespace

absl::StatusOr<TriePlan> SolveTrie(const TrieProblem& trie, std::uint32_t states_max) {
  CAIRN_RETURN_IF_ERROR(ValidateTrie(trie, limits::kTrieNodesMax));
  TrieSolver solver(trie, states_max);
  if (solver.Cells() > limits::kTrieCellsMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a trie of ", trie.size(), " nodes with ", states_max, " states needs ", solver.Cells(),
        " cells, over ", limits::kTrieCellsMax, "; GreedyTrie takes it"));
  }
  return solver.Solve();
}

}  // namespace cairn::placement
