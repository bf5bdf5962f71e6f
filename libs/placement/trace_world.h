#ifndef CAIRN_LIBS_PLACEMENT_TRACE_WORLD_H_
#define CAIRN_LIBS_PLACEMENT_TRACE_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "libs/placement/arrival.h"
#include "libs/placement/entry_tree.h"
#include "libs/placement/plan_query.h"

namespace cairn::placement {

// A request of a trace: its blocks, named by what they and all before them hold (equal names: equal
// prefix).
struct TraceRequest {
  std::vector<std::uint64_t> blocks;
  std::uint32_t full_blocks = 0;  // floor(tokens / block size), at most blocks.size()
};

// A cache that keeps everything, by the rules of replay.h: what each request meets, and the states
// that it really has. For each request in turn: Look, Meet, Store.
//
// Threads: one owner. Memory: 8 bytes a distinct block, and EntryTree's.
class TraceWorld {
 public:
  // The request as an arrival: entries are numbered 0, 1, ... as requests were stored.
  Arrival Look(const TraceRequest& request, std::uint32_t states_max) const;
  // Counts the claim. What the leader is asked: the resume point is what the request saves.
  PlanQuery Meet(const Arrival& arrival);
  // The request becomes an entry with the states of the plan that it can take. Returns how many.
  std::size_t Store(const TraceRequest& request, const Arrival& arrival, const PlanQuery& query,
                    std::vector<std::uint32_t> plan);

  std::uint32_t LengthOf(EntryTree::Entry entry) const { return tree_.LengthOf(entry); }
  std::uint32_t EndOf(EntryTree::Entry entry) const { return ends_[entry]; }

 private:
  EntryTree tree_;
  std::vector<std::uint32_t> ends_;                              // by entry: full blocks
  absl::flat_hash_map<std::uint64_t, EntryTree::Entry> latest_;  // request through each block
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_TRACE_WORLD_H_
