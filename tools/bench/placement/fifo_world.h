#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_FIFO_WORLD_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_FIFO_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "libs/placement/plan_query.h"
#include "tools/bench/placement/published_log.h"

namespace cairn::bench {

// The cache of the published logs, by their own rule: entries leave in the order in which they
// came, a request sees live entries of its own conversation, and resumes at the deepest of their
// states at or above the recorded match (floored to the grid). What stands on its path above the
// match is its own from then on as well: a state lives as long as an entry through it.
//
// One world for each strategy: what a request meets depends on the states put before. Depths in
// positions of kLogGrid tokens. Threads: one owner.
class FifoWorld {
 public:
  explicit FifoWorld(std::size_t entries_max) : entries_max_(entries_max) {}

  // A live entry that the request agrees with: the latest of its conversation that is long enough.
  struct Matched {
    std::size_t request = 0;   // which one it was, from 0
    std::uint32_t length = 0;  // tokens
    placement::EntryShape shape;
  };
  struct Look {
    placement::PlanQuery query;  // states_max is the caller's to set
    std::optional<Matched> matched;
    std::uint32_t node_claims = 0;  // requests that parted at this very depth before
    std::uint32_t node_parted_before_end = 0;
  };
  // `family` names the conversation.
  Look LookUp(const LogRequest& request, std::uint64_t family) const;

  // The request becomes an entry with new states at `plan`: those that it can take, in order, at
  // most query.states_max. Returns how many.
  std::size_t Store(const LogRequest& request, const Look& look,
                    const std::vector<std::uint32_t>& plan);

 private:
  struct Entry {
    std::uint64_t family = 0;
    std::size_t request = 0;
    std::uint32_t length = 0;
    placement::EntryShape shape;
    std::vector<std::uint32_t> states;  // ascending
  };
  std::size_t entries_max_;
  std::size_t requests_ = 0;
  std::deque<Entry> live_;
  // By family and depth: where requests have parted. Known of evicted entries too (ghost keys).
  std::map<std::uint64_t, std::map<std::uint32_t, placement::BranchPoint>> parted_;
};

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_FIFO_WORLD_H_
