#include "libs/placement/trie_greedy.h"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "libs/base/status_macros.h"
#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

class Greedy {
 public:
  explicit Greedy(const TrieProblem& trie)
      : trie_(trie), open_(trie.size()), has_state_(trie.size()) {
    for (std::size_t i = 0; i < trie.size(); ++i) {
      open_[i] = trie[i].weight;
      has_state_[i] = i == 0 || trie[i].is_held;
    }
    for (std::size_t i = trie.size() - 1; i > 0; --i) {
      if (!has_state_[i]) open_[trie[i].parent] += open_[i];
    }
  }

  // What a state at `node` would save now: all claims below it that resume above it.
  __int128 Gain(std::uint32_t node) const {
    std::uint32_t above = trie_[node].parent;
    while (!has_state_[above]) above = trie_[above].parent;
    return static_cast<__int128>(open_[node]) * (trie_[node].cost - trie_[above].cost);
  }

  bool HasState(std::uint32_t node) const { return has_state_[node]; }

  void Put(std::uint32_t node) {
    has_state_[node] = true;
    std::uint32_t above = node;
    do {
      above = trie_[above].parent;
      open_[above] -= open_[node];
    } while (!has_state_[above]);
  }

 private:
  const TrieProblem& trie_;
  std::vector<std::int64_t> open_;  // claims at or below a node with no state in between
  std::vector<bool> has_state_;
};

}  // namespace

absl::StatusOr<TriePlan> GreedyTrie(const TrieProblem& trie, std::uint32_t states_max) {
  CAIRN_RETURN_IF_ERROR(ValidateTrie(trie, limits::kTrieNodesMax));
  Greedy greedy(trie);
  struct Offer {
    std::int64_t gain;
    std::uint32_t node;
    bool operator<(const Offer& other) const {
      return gain != other.gain ? gain < other.gain : node > other.node;
    }
  };
  std::priority_queue<Offer> offers;  // gains only fall, so an old one is a bound
  const auto offer = [&](std::uint32_t node) {
    // Within 64 bits: no more than the claims below it cost, whose sum is bounded.
    const auto gain = static_cast<std::int64_t>(greedy.Gain(node));
    if (gain > 0) offers.push({.gain = gain, .node = node});
  };
  for (std::uint32_t node = 1; node < trie.size(); ++node) {
    if (!greedy.HasState(node)) offer(node);
  }
  TriePlan plan;
  while (!offers.empty() && plan.nodes.size() < states_max) {
    const Offer best = offers.top();
    offers.pop();
    const auto gain = static_cast<std::int64_t>(greedy.Gain(best.node));
    if (gain < best.gain) {
      offer(best.node);
      continue;
    }
    greedy.Put(best.node);
    plan.nodes.push_back(best.node);
    plan.saved += gain;
  }
  std::sort(plan.nodes.begin(), plan.nodes.end());
  return plan;
}

}  // namespace cairn::placement
