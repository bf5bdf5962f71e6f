#include "tools/bench/placement/hindsight.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "libs/base/rng.h"
#include "libs/placement/trie_solver.h"
#include "tests/unit/bench_placement/random_trace.h"

namespace cairn::bench {
namespace {

using Requests = std::vector<placement::TraceRequest>;

// What states at `wanted` save, each there from the first request that can put it: from rules R1 to
// R5, in the plainest way.
std::uint64_t Played(const Requests& requests, const std::set<std::uint64_t>& wanted) {
  std::set<std::uint64_t> seen;
  std::set<std::uint64_t> states;
  std::uint64_t saved = 0;
  for (const placement::TraceRequest& request : requests) {
    std::size_t t = 0;
    while (t < request.blocks.size() && seen.contains(request.blocks[t])) ++t;
    std::size_t resume = std::min(t, request.blocks.size() - 1);
    while (resume > 0 && !states.contains(request.blocks[resume - 1])) --resume;
    saved += resume;
    for (std::size_t d = resume; d < request.full_blocks; ++d) {
      if (wanted.contains(request.blocks[d])) states.insert(request.blocks[d]);
    }
    seen.insert(request.blocks.begin(), request.blocks.end());
  }
  return saved;
}

void MakeFull(Requests& requests) {
  for (placement::TraceRequest& request : requests) {
    request.full_blocks = static_cast<std::uint32_t>(request.blocks.size());
  }
}

std::vector<std::uint64_t> NodesOf(const Requests& requests) {
  std::set<std::uint64_t> nodes;
  for (const placement::TraceRequest& request : requests) {
    nodes.insert(request.blocks.begin(), request.blocks.end());
  }
  return {nodes.begin(), nodes.end()};
}

// By number of states: the most that any choice of nodes saves.
std::vector<std::uint64_t> BestByStates(const Requests& requests) {
  const std::vector<std::uint64_t> nodes = NodesOf(requests);
  std::vector<std::uint64_t> best(nodes.size() + 1, 0);
  for (std::uint32_t choice = 0; choice < (1u << nodes.size()); ++choice) {
    std::set<std::uint64_t> wanted;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if ((choice >> n) & 1) wanted.insert(nodes[n]);
    }
    best[wanted.size()] = std::max(best[wanted.size()], Played(requests, wanted));
  }
  for (std::size_t m = 1; m < best.size(); ++m) best[m] = std::max(best[m], best[m - 1]);
  return best;
}

TEST(HindsightTest, BoundAndReachedEncloseEveryChoiceOfNodes) {
  int tight = 0;
  int points = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    Requests requests = RandomRequests(rng, 8, 3);
    if (NodesOf(requests).size() > 12) continue;
    if (seed % 2 == 0) MakeFull(requests);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::vector<std::uint64_t> best = BestByStates(requests);
    Hindsight hindsight(requests);
    for (std::size_t m = 0; m < best.size(); ++m) {
      const HindsightPoint point = hindsight.At(m);
      ASSERT_LE(point.states, m);
      ASSERT_LE(point.reached, best[m]) << m;
      ASSERT_GE(point.bound, best[m]) << m;
      ASSERT_LE(point.bound, hindsight.ceiling());
      if (seed % 2 != 0) continue;
      ++points;
      tight += point.bound == point.reached ? 1 : 0;
    }
  }
  EXPECT_GT(points, 300);
  EXPECT_GT(tight, points * 8 / 10);  // a bound of no use would hold as well
}

TEST(HindsightTest, APricedChoiceIsTheBestOfAll) {
  int looked = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Rng rng(seed);
    Requests requests = RandomRequests(rng, 8, 3);
    if (NodesOf(requests).size() > 12) continue;
    // All blocks full: a chosen state is there in time, so the bound is the optimum itself.
    MakeFull(requests);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::vector<std::uint64_t> best = BestByStates(requests);
    Hindsight hindsight(requests);
    for (std::int64_t halves = 0; halves <= 20; ++halves) {
      const std::int64_t price = halves * Hindsight::kPriceUnit / 2;
      std::int64_t most = 0;
      for (std::size_t m = 0; m < best.size(); ++m) {
        most = std::max(most, static_cast<std::int64_t>(best[m]) * Hindsight::kPriceUnit -
                                  static_cast<std::int64_t>(m) * price);
      }
      const Hindsight::Priced& priced = hindsight.AtPrice(price);
      ASSERT_EQ(priced.value, most) << price;
      ASSERT_LE(priced.nodes.size(), best.size());
      ++looked;
    }
  }
  EXPECT_GT(looked, 300);
}

TEST(HindsightTest, AgreesWithTheExactTrieSolver) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    Requests requests = RandomRequests(rng, 40, 4);
    MakeFull(requests);
    const std::vector<std::uint32_t> usable = UsableDepths(requests);
    const std::vector<std::uint64_t> nodes = NodesOf(requests);
    placement::TrieProblem trie(nodes.back() + 1);
    for (std::size_t r = 0; r < requests.size(); ++r) {
      std::uint64_t parent = 0;
      std::uint32_t depth = 0;
      for (const std::uint64_t block : requests[r].blocks) {
        trie[block].parent = static_cast<std::uint32_t>(parent);
        trie[block].cost = ++depth;
        parent = block;
      }
      if (usable[r] > 0) ++trie[requests[r].blocks[usable[r] - 1]].weight;
    }
    Hindsight hindsight(requests);
    for (const std::uint32_t states : {1u, 2u, 3u, 5u, 8u}) {
      const auto exact = static_cast<std::uint64_t>(placement::SolveTrie(trie, states)->saved);
      const HindsightPoint point = hindsight.At(states);
      ASSERT_LE(point.reached, exact);
      ASSERT_GE(point.bound, exact);
      ASSERT_LE(point.bound - point.reached, exact / 8 + 2);
    }
  }
}

TEST(HindsightTest, KnowsTheFewestStatesThatSaveAll) {
  Rng rng(7);
  const Requests requests = RandomRequests(rng, 300, 6);
  Hindsight hindsight(requests);
  ASSERT_GT(hindsight.states_for_all(), 10u);
  EXPECT_EQ(hindsight.At(hindsight.states_for_all()).bound, hindsight.ceiling());
  EXPECT_LT(hindsight.At(hindsight.states_for_all() - 1).bound, hindsight.ceiling());
  std::uint64_t before = 0;
  for (std::uint64_t states = 0; states <= hindsight.states_for_all(); states += 5) {
    const std::uint64_t bound = hindsight.At(states).bound;
    EXPECT_GE(bound, before);
    before = bound;
  }
}

TEST(HindsightTest, NothingToSaveIsNothing) {
  Hindsight none({});
  EXPECT_EQ(none.At(5).bound, 0u);
  const Requests apart = {{.blocks = {1, 2}, .full_blocks = 2}, {.blocks = {3}, .full_blocks = 1}};
  Hindsight strangers(apart);
  EXPECT_EQ(strangers.At(5).bound, 0u);
  EXPECT_EQ(strangers.At(5).reached, 0u);
  EXPECT_EQ(strangers.states_for_all(), 0u);
}

TEST(HindsightTest, AStateIsPutByTheFirstRequestWhoseBlockIsFull) {
  // Block 2 comes partial first, so the second request cannot resume there, the third one can.
  const Requests requests = {{.blocks = {1, 2}, .full_blocks = 1},
                             {.blocks = {1, 2, 3}, .full_blocks = 3},
                             {.blocks = {1, 2, 4}, .full_blocks = 3}};
  Hindsight hindsight(requests);
  EXPECT_EQ(hindsight.ceiling(), 4u);
  EXPECT_EQ(hindsight.At(1).bound, 4u);    // were it there from the start
  EXPECT_EQ(hindsight.At(1).reached, 2u);  // as it is
}

}  // namespace
}  // namespace cairn::bench
