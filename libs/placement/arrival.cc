#include "libs/placement/arrival.h"

#include <algorithm>
#include <functional>

namespace cairn::placement {

PlanQuery QueryIn(const EntryTree& tree, EntryTree::World world, const Arrival& arrival) {
  PlanQuery query{.shape = {.family = arrival.family,
                            .end = arrival.end,
                            .resume = 0,
                            .shared = arrival.shared},
                  .branches = {},
                  .held = {},
                  .states_max = arrival.states_max};
  if (!arrival.matched.has_value()) return query;
  if (arrival.shared > 0) {
    query.shape.resume = tree.Deepest(world, *arrival.matched, arrival.shared);
  }
  const std::uint32_t resume = query.shape.resume;
  // None of them has a state: the resume point is the deepest.
  query.branches = tree.Branches(*arrival.matched, resume, std::min(arrival.shared, arrival.end));
  query.held = tree.States(world, *arrival.matched, resume, std::min(arrival.agreed, arrival.end));
  return query;
}

std::vector<std::uint32_t> PutPlan(EntryTree& tree, EntryTree::World world, EntryTree::Entry entry,
                                   const PlanQuery& query, std::vector<std::uint32_t> plan) {
  std::vector<std::uint32_t> placed;
  std::sort(plan.begin(), plan.end(), std::greater<>());
  for (const std::uint32_t depth : plan) {
    if (placed.size() >= query.states_max) break;
    if (depth <= query.shape.resume || depth > query.shape.end) continue;
    if (tree.Put(world, entry, depth)) placed.push_back(depth);
  }
  std::reverse(placed.begin(), placed.end());
  return placed;
}

}  // namespace cairn::placement
