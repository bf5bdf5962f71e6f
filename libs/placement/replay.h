#ifndef CAIRN_LIBS_PLACEMENT_REPLAY_H_
#define CAIRN_LIBS_PLACEMENT_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "libs/placement/expert.h"
#include "libs/placement/trace_world.h"

namespace cairn::placement {

// A trace through the code that the service runs, by rules that fix every digit:
//   R1 In order of the trace; a request sees earlier ones only; nothing is ever evicted.
//   R2 A request is its blocks, named by what they and all before them hold (equal names: equal
//      prefix); the last one is nearly always partial, and no state stands below the last full one.
//   R3 t = leading blocks seen before; usable cap = min(t, blocks - 1); it resumes at the deepest
//      state at or above cap. The ceiling is the sum of cap; share = saved / ceiling, all requests.
//   R4 Look up, score, observe, plan, store.      R5 At most states_max new states a request.
//   R6 The entry observed is the latest request through the node at t (at cap there may be a later
//      one where t is all of the request); cap 0 observes nothing.
//   R7 Branch atom: baselines.h.                   R8 Ties of leaders: the lower index.
//   R9 States per request always beside the share.

struct ReplayLine {
  std::string strategy;
  std::uint64_t saved = 0;   // blocks
  std::uint64_t states = 0;  // placed
  std::uint64_t ceiling = 0;
  std::uint64_t requests = 0;
  double Share() const {
    return ceiling == 0 ? 0 : static_cast<double>(saved) / static_cast<double>(ceiling);
  }
  double StatesPerRequest() const {
    return requests == 0 ? 0 : static_cast<double>(states) / static_cast<double>(requests);
  }
};

struct ReplayReport {
  ReplayLine followed;              // the panel's leader, exactly, on real states
  std::vector<ReplayLine> experts;  // each alone, in its own world, by sketches (expert.h)
  std::string last_leader;
};

// Told after each request how many are done; false ends the replay.
using ReplayWatch = std::function<bool(std::size_t requests)>;

// Pure: same input, same report. INVALID_ARGUMENT: what ExpertPanel refuses, naming the request.
// CANCELLED: the watch ended it.
absl::StatusOr<ReplayReport> Replay(absl::Span<const TraceRequest> trace,
                                    std::vector<std::unique_ptr<Expert>> experts,
                                    std::uint32_t states_max, const ReplayWatch& watch = {});

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_REPLAY_H_
