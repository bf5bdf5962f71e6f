#include "libs/placement/trie_greedy.h"

#include <gtest/gtest.h>

#include "libs/placement/limits.h"
#include "tests/unit/placement/trie_cases.h"

namespace cairn::placement {
namespace {

// One state after the other, every gain computed from the definition each time.
TriePlan PlainGreedy(const TrieProblem& trie, std::uint32_t states_max) {
  TriePlan plan;
  while (plan.nodes.size() < states_max) {
    std::int64_t most = plan.saved;
    std::uint32_t best = 0;
    for (std::uint32_t i = 1; i < trie.size(); ++i) {
      std::vector<std::uint32_t> nodes = plan.nodes;
      nodes.push_back(i);
      const std::int64_t saved = TrieSaved(trie, nodes);
      if (saved > most) {
        most = saved;
        best = i;
      }
    }
    if (best == 0) break;
    plan.nodes.push_back(best);
    plan.saved = most;
  }
  std::sort(plan.nodes.begin(), plan.nodes.end());
  return plan;
}

TEST(TrieGreedyTest, EqualsComputingEveryGainAnew) {
  Rng rng(80);
  for (int round = 0; round < 1500; ++round) {
    const TrieProblem trie = RandomTrie(rng, 30);
    const auto states = static_cast<std::uint32_t>(rng.Below(10));
    const TriePlan expected = PlainGreedy(trie, states);
    const TriePlan plan = GreedyTrie(trie, states).value();
    ASSERT_EQ(plan.saved, expected.saved) << "round " << round;
    ASSERT_EQ(plan.nodes, expected.nodes) << "round " << round;
    ASSERT_EQ(plan.saved, TrieSaved(trie, plan.nodes));
  }
}

TEST(TrieGreedyTest, ReachesItsShareOfTheOptimum) {
  Rng rng(81);
  for (int round = 0; round < 500; ++round) {
    const TrieProblem trie = RandomTrie(rng, 10);
    const std::vector<std::int64_t> best = SavedByTrying(trie);
    for (std::uint32_t m = 0; m < best.size(); ++m) {
      const double saved = static_cast<double>(GreedyTrie(trie, m)->saved);
      ASSERT_GE(saved, (1 - 1 / 2.718281828) * static_cast<double>(best[m]) - 1e-9);
    }
  }
}

TEST(TrieGreedyTest, TakesTheLargestChainAndRefusesALargerOne) {
  TrieProblem chain(1);
  for (std::uint32_t i = 1; i < 20000; ++i)
    chain.push_back({.parent = i - 1, .cost = i, .weight = 1});
  EXPECT_EQ(GreedyTrie(chain, 3)->nodes.size(), 3u);
  chain.resize(limits::kTrieNodesMax + 1);
  EXPECT_FALSE(GreedyTrie(chain, 1).ok());
}

}  // namespace
}  // namespace cairn::placement
