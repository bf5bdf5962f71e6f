#include "tools/bench/placement/fifo_world.h"

#include <algorithm>

namespace cairn::bench {

FifoWorld::Look FifoWorld::LookUp(const LogRequest& request, std::uint64_t family) const {
  Look look;
  placement::EntryShape& shape = look.query.shape;
  shape.family = family;
  shape.end = request.length / kLogGrid;
  // The last token always runs.
  shape.shared = std::min(request.match, request.length - 1) / kLogGrid;
  for (const Entry& entry : live_) {
    if (entry.family != family) continue;
    if (!look.matched.has_value() || entry.length >= request.match) {
      look.matched = {.request = entry.request, .length = entry.length, .shape = entry.shape};
    }
    const auto below = std::upper_bound(entry.states.begin(), entry.states.end(), shape.shared);
    if (below != entry.states.begin()) shape.resume = std::max(shape.resume, *(below - 1));
  }
  if (shape.shared == 0) look.matched.reset();
  const auto known = parted_.find(family);
  if (known != parted_.end()) {
    const auto here = known->second.find(shape.shared);
    if (here != known->second.end()) {
      look.node_claims = here->second.claims;
      look.node_parted_before_end = here->second.parted_before_end;
    }
    for (auto at = known->second.upper_bound(shape.resume);
         at != known->second.end() && at->first < shape.shared; ++at) {
      look.query.branches.push_back(at->second);
    }
  }
  if (shape.shared > shape.resume) {
    const std::uint32_t end =
        (look.matched.has_value() ? look.matched->length : request.length) / kLogGrid;
    if (look.node_claims == 0) {
      look.node_parted_before_end = end - std::min(end, shape.shared);
    }
    look.query.branches.push_back({.depth = shape.shared,
                                   .claims = look.node_claims + 1,
                                   .parted_before_end = look.node_parted_before_end});
  }
  return look;
}

std::size_t FifoWorld::Store(const LogRequest& request, const Look& look,
                             const std::vector<std::uint32_t>& plan) {
  const placement::EntryShape& shape = look.query.shape;
  Entry entry{.family = shape.family,
              .request = requests_++,
              .length = request.length,
              .shape = shape,
              .states = {}};
  for (const Entry& other : live_) {
    if (other.family != shape.family) continue;
    for (const std::uint32_t depth : other.states) {
      if (depth <= shape.shared) entry.states.push_back(depth);
    }
  }
  std::size_t placed = 0;
  std::vector<std::uint32_t> deepest_first = plan;
  std::sort(deepest_first.rbegin(), deepest_first.rend());
  deepest_first.erase(std::unique(deepest_first.begin(), deepest_first.end()), deepest_first.end());
  for (const std::uint32_t depth : deepest_first) {
    if (placed >= look.query.states_max) break;
    if (depth <= shape.resume || depth > shape.end) continue;
    entry.states.push_back(depth);
    ++placed;
  }
  std::sort(entry.states.begin(), entry.states.end());
  entry.states.erase(std::unique(entry.states.begin(), entry.states.end()), entry.states.end());
  if (shape.shared > 0) {
    placement::BranchPoint& here = parted_[shape.family][shape.shared];
    here.depth = shape.shared;
    if (++here.claims == 1) here.parted_before_end = look.node_parted_before_end;
  }
  live_.push_back(std::move(entry));
  if (live_.size() > entries_max_) live_.pop_front();
  return placed;
}

}  // namespace cairn::bench
