#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_PLACEMENT_FIGURES_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_PLACEMENT_FIGURES_H_

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/bench/placement/fifo_replay.h"
#include "tools/bench/placement/hindsight.h"
#include "tools/bench/placement/published_plans.h"
#include "tools/bench/placement/replay_trace.h"
#include "tools/bench/placement/svg_plot.h"
#include "tools/bench/placement/trace_replay.h"

namespace cairn::bench {

// What somebody who knows the future makes of `thousandths` / 1000 states a request, in all.
struct OptimumFigures {
  std::uint64_t thousandths = 0;
  HindsightPoint found;
};

// All that was found of one trace, or of its first requests.
struct TraceFigures {
  std::uint64_t requests = 0;
  std::uint32_t block_tokens = 0;
  std::uint64_t ceiling = 0;           // blocks
  std::vector<BudgetFigures> budgets;  // in the order asked for
  std::vector<OptimumFigures> optimum;
  std::uint64_t states_for_all = 0;
};

struct TraceQuestion {
  std::vector<std::uint32_t> budgets;
  bool is_plotted = false;  // more points of the optimum
};

// Replays the first `requests` of a trace. CANCELLED, or what ReplayStrategies says.
absl::StatusOr<TraceFigures> MeasureTrace(const ReplayTrace& trace, std::size_t requests,
                                          const TraceQuestion& question, ReplayProgress progress);

// {"trace", "service_strategy", "strategies": [...], ...}; the README of cairn-bench has the
// fields. A state weighs `state_bytes`.
boost::json::object JsonOf(const ReplayTrace& trace, const TraceFigures& figures,
                           std::uint64_t state_bytes);

// {"runs": [{"budget", "requests", "equal", ...}], ...}: runs of the published method, the rules
// that were published beside it, and replays of the logs.
boost::json::object JsonOf(const std::vector<PlanCheck>& checks,
                           const std::vector<FifoReport>& replays, std::uint64_t state_bytes);

// Share of the ceiling over states a request: each strategy by budget, and the optimum's bound.
SvgPlot PlotOf(const ReplayTrace& trace, const TraceFigures& figures);
// Tokens saved over states, of replayed logs.
SvgPlot PlotOf(const std::vector<FifoReport>& replays);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_PLACEMENT_FIGURES_H_
