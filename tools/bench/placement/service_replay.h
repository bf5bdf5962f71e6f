#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_SERVICE_REPLAY_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_SERVICE_REPLAY_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "libs/placement/replay.h"

namespace cairn::bench {

// Replays a trace through a planner (libs/planner) as cairn-placement runs it: each request is
// observed, then a plan is asked for on the states that are really there, by the same rules R1 to
// R9. No families: a trace does not name them. With `thinning` above 1 the planner takes one run of
// observations in so many, as the service does when more come than it can learn from.
//
// `watch` is told how many requests are done; false ends the replay: CANCELLED. INVALID_ARGUMENT:
// what the planner refuses, naming the request.
absl::StatusOr<placement::ReplayLine> ReplayService(absl::Span<const placement::TraceRequest> trace,
                                                    std::uint32_t budget, std::uint32_t thinning,
                                                    absl::FunctionRef<bool(std::size_t)> watch);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_SERVICE_REPLAY_H_
