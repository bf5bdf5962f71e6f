#include "libs/placement/trie_solver.h"

#include <gtest/gtest.h>

#include "libs/placement/line_solver.h"
#include "tests/unit/placement/line_cases.h"
#include "tests/unit/placement/trie_cases.h"

namespace cairn::placement {
namespace {

TEST(TrieSolverTest, EqualsTryingEverySetOfNodes) {
  Rng rng(70);
  for (int round = 0; round < 1500; ++round) {
    const TrieProblem trie = RandomTrie(rng, 10);
    const std::vector<std::int64_t> best = SavedByTrying(trie);
    for (std::uint32_t m = 0; m < best.size(); ++m) {
      const TriePlan plan = SolveTrie(trie, m).value();
      ASSERT_EQ(plan.saved, best[m]) << "round " << round << " m " << m;
      ASSERT_EQ(TrieSaved(trie, plan.nodes), best[m]) << "round " << round << " m " << m;
      ASSERT_LE(plan.nodes.size(), m);
      if (!plan.nodes.empty()) {
        ASSERT_LT(best[plan.nodes.size() - 1], best[m]) << "not the fewest";
      }
    }
  }
}

TEST(TrieSolverTest, OnATrieGainsCanRise) {
  const TrieProblem trie = {{},
                            {.parent = 0, .cost = 1},
                            {.parent = 1, .cost = 2, .weight = 1},
                            {.parent = 1, .cost = 2, .weight = 1},
                            {.parent = 1, .cost = 2, .weight = 1}};
  EXPECT_EQ(SolveTrie(trie, 1)->saved, 3);
  EXPECT_EQ(SolveTrie(trie, 2)->saved, 4);
  EXPECT_EQ(SolveTrie(trie, 3)->saved, 6);
}

TEST(TrieSolverTest, ATrieWithoutBranchesIsALine) {
  Rng rng(71);
  for (int round = 0; round < 300; ++round) {
    LineProblem line = RandomLine(rng, {.atoms_max = 20, .held_in = 0});
    line.base_cost = 0;
    TrieProblem trie(1);
    for (const LineAtom& atom : line.atoms) {
      trie.push_back({.parent = static_cast<std::uint32_t>(trie.size() - 1),
                      .cost = atom.cost,
                      .weight = atom.weight});
    }
    for (std::uint32_t m = 0; m < 8; ++m) {
      ASSERT_EQ(SolveTrie(trie, m)->saved, SolveLine(line, m)->saved);
    }
  }
}

TEST(TrieSolverTest, RefusesABadTrieAndTooManyCells) {
  EXPECT_FALSE(SolveTrie({{}, {.parent = 1}}, 1).ok());
  TrieProblem chain(1);
  for (std::uint32_t i = 0; i < 3000; ++i) chain.push_back({.parent = i, .cost = i, .weight = 1});
  EXPECT_FALSE(SolveTrie(chain, 1000).ok());
  TrieProblem star(1 << 14, {.parent = 0, .cost = 1, .weight = 1});
  star[0] = {};
  EXPECT_FALSE(SolveTrie(star, 1000).ok());  // few tables, but merging the leaves takes much
  EXPECT_EQ(SolveTrie(star, 2)->saved, 2);
}

}  // namespace
}  // namespace cairn::placement
