#include "libs/placement/trace_world.h"

#include <algorithm>
#include <utility>

namespace cairn::placement {

Arrival TraceWorld::Look(const TraceRequest& request, std::uint32_t states_max) const {
  const auto length = static_cast<std::uint32_t>(request.blocks.size());
  Arrival arrival{.length = length, .end = request.full_blocks, .states_max = states_max};
  std::uint32_t seen = 0;
  while (seen < length && latest_.contains(request.blocks[seen])) ++seen;
  if (seen == 0) return arrival;
  arrival.shared = std::min(seen, length - 1);
  arrival.agreed = seen;
  arrival.matched = latest_.find(request.blocks[seen - 1])->second;
  return arrival;
}

PlanQuery TraceWorld::Meet(const Arrival& arrival) {
  if (arrival.shared > 0) {
    const std::uint32_t end = ends_[*arrival.matched];
    tree_.AddClaim(*arrival.matched, arrival.shared, end - std::min(end, arrival.shared));
  }
  return QueryIn(tree_, 0, arrival);
}

std::size_t TraceWorld::Store(const TraceRequest& request, const Arrival& arrival,
                              const PlanQuery& query, std::vector<std::uint32_t> plan) {
  const EntryTree::Entry entry = tree_.Add(arrival.matched, arrival.agreed, arrival.length);
  ends_.push_back(arrival.end);
  for (const std::uint64_t block : request.blocks) latest_[block] = entry;
  return PutPlan(tree_, 0, entry, query, std::move(plan)).size();
}

}  // namespace cairn::placement
