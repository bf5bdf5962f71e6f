#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_HINDSIGHT_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_HINDSIGHT_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/types/span.h"
#include "tools/bench/placement/replay_trace.h"

namespace cairn::bench {

// What somebody who knows the future would save with so many states in TOTAL, wherever and whenever
// they are put: the bound for every strategy, whatever its budget a request.
//
// Bound. Let S be all nodes at which a run ever put a state, |S| <= T. What a request saves is at
// most what it would save were all of S there from the start: the deepest node of S on its path, at
// or above its usable depth. So no run saves more than the best choice of T nodes of the trie of
// prefixes, a k-median on a directed tree with weights where requests part (trie_problem.h). For
// any price p >= 0 a state, that choice saves at most max over S of (saved(S) - p |S|) + p T
// (Lagrange), and that maximum is found exactly: G_v(x), the best of v's subtree when the nearest
// state above is at depth x, is h(x) = w_v x + sum of the children's G(x), and with a state at v
// it is h(depth of v) - p, the same for all x; both are convex and rise with x, so G_v is h cut off
// from below, and piecewise linear functions merged small into large give all of them in
// O(n log^2 n). Integers throughout (prices in 2^-20 of a block): the bound is exact, not rounded.
//
// Reached. The choice at the price where its size crosses T (filled up greedily to T) is played
// through the trace by rules R1 to R5, each state put by the first request that can: what that
// saves is reached, so the optimum lies between the two.
struct HindsightPoint {
  std::uint64_t states_max = 0;  // T
  std::uint64_t bound = 0;       // blocks: nobody saves more with T states
  std::uint64_t reached = 0;     // blocks
  std::uint64_t states = 0;      // used for that
};

// Requests are those of a ReplayTrace (blocks named parents first), and outlive it. Threads: one
// owner.
class Hindsight {
 public:
  explicit Hindsight(absl::Span<const placement::TraceRequest> requests);

  HindsightPoint At(std::uint64_t states_max);
  std::uint64_t ceiling() const { return ceiling_; }  // blocks, with a state at every node
  // The fewest states that reach the ceiling: one wherever a request parts.
  std::uint64_t states_for_all() const { return states_for_all_; }

  // The most that any choice saves less `price` (2^-20 blocks) a state, in 2^-20 blocks, and one
  // choice that does, as nodes of the tree below: for At and its tests.
  struct Priced {
    std::int64_t value = 0;
    std::vector<std::uint32_t> nodes;
  };
  const Priced& AtPrice(std::int64_t price);
  static constexpr std::int64_t kPriceUnit = 1 << 20;

 private:
  // The nodes that matter: where requests part, and where such nodes' paths do. Parents first; node
  // 0 is the empty prefix.
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t depth = 0;
    std::uint64_t claims = 0;  // requests whose usable depth ends here
    std::uint64_t name = 0;    // in the trace
  };
  void Build();
  std::uint64_t Play(absl::Span<const std::uint32_t> nodes) const;
  std::vector<std::uint32_t> FillUp(std::vector<std::uint32_t> nodes, std::uint64_t states) const;

  absl::Span<const placement::TraceRequest> requests_;
  std::vector<std::uint32_t> usable_;  // by request
  std::vector<Node> nodes_;
  std::uint64_t ceiling_ = 0;
  std::uint64_t states_for_all_ = 0;
  std::map<std::int64_t, Priced> priced_;  // what was found so far; prices of one At help the next
};

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_HINDSIGHT_H_
