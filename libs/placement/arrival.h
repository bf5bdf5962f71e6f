#ifndef CAIRN_LIBS_PLACEMENT_ARRIVAL_H_
#define CAIRN_LIBS_PLACEMENT_ARRIVAL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "libs/placement/entry_tree.h"
#include "libs/placement/plan_query.h"

namespace cairn::placement {

// A request that came and is stored. Depths in blocks.
struct Arrival {
  std::uint64_t family = 0;
  std::optional<EntryTree::Entry> matched;  // the entry that it agreed with
  std::uint32_t agreed = 0;                 // with it, in full: this much of its path is shared
  std::uint32_t shared = 0;                 // usable part of that: at most `agreed` and length - 1
  std::uint32_t length = 0;                 // blocks, a last one that is not full included
  std::uint32_t end = 0;         // the last full block: no state below it; at most `length`
  std::uint32_t states_max = 0;  // new states it may leave
  std::uint32_t weight = 1;      // 1 .. limits::kArrivalWeightMax: it stands for so many
};

// What an expert is asked for it, in one world of the tree. The matched entry is in the tree, the
// request's own is not yet.
PlanQuery QueryIn(const EntryTree& tree, EntryTree::World world, const Arrival& arrival);

// Puts a plan's states on the entry that the request became; drops what it cannot take, and of too
// many leaves out the shallowest. Returns those that are new, ascending.
std::vector<std::uint32_t> PutPlan(EntryTree& tree, EntryTree::World world, EntryTree::Entry entry,
                                   const PlanQuery& query, std::vector<std::uint32_t> plan);

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_ARRIVAL_H_
