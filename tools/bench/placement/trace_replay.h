#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_TRACE_REPLAY_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_TRACE_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "libs/placement/replay.h"

namespace cairn::bench {

// What a strategy made of a trace with at most `budget` new states a request.
struct StrategyFigures {
  std::string strategy;
  std::uint32_t budget = 0;
  std::uint64_t saved = 0;   // blocks
  std::uint64_t states = 0;  // placed
  std::int64_t regret = 0;   // blocks: what the best single one saved, less this
  double solver_s = 0;       // in its plans of the whole trace; of the service: all experts' too
  double plan_us = 0;        // mean of one plan
};

struct BudgetFigures {
  std::uint32_t budget = 0;
  std::uint64_t requests = 0;
  std::uint64_t ceiling = 0;                // blocks that dense states would save
  std::vector<StrategyFigures> strategies;  // the service's first
  // Through a planner (service_replay.h): all observations taken, and one run in 16.
  std::vector<StrategyFigures> planners;
  std::string best_single;  // in hindsight; ties: the first
  std::string last_leader;  // whose rule the service followed in the end
};

// Told how much is done, 0..1; false: stop.
using ReplayProgress = absl::FunctionRef<bool(double share)>;

// Replays a trace through libs/placement (replay.h, rules R1 to R9): the panel of experts that the
// service runs, each of those experts alone, the published method, and every baseline. Regret is
// against the best of all but the service. And through a planner, as the service does it.
// CANCELLED, or what Replay says.
absl::StatusOr<BudgetFigures> ReplayStrategies(absl::Span<const placement::TraceRequest> trace,
                                               std::uint32_t budget, ReplayProgress progress);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_TRACE_REPLAY_H_
