#include "tools/bench/placement/replay_trace.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace cairn::bench {

std::vector<std::uint32_t> UsableDepths(absl::Span<const placement::TraceRequest> requests) {
  std::vector<std::uint32_t> depths;
  depths.reserve(requests.size());
  absl::flat_hash_set<std::uint64_t> seen;
  for (const placement::TraceRequest& request : requests) {
    std::size_t agreed = 0;
    while (agreed < request.blocks.size() && seen.contains(request.blocks[agreed])) ++agreed;
    const std::size_t usable = std::min(agreed, request.blocks.size() - 1);
    depths.push_back(request.blocks.empty() ? 0 : static_cast<std::uint32_t>(usable));
    seen.insert(request.blocks.begin(), request.blocks.end());
  }
  return depths;
}

}  // namespace cairn::bench
