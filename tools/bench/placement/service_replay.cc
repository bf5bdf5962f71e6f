#include "tools/bench/placement/service_replay.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/trace_world.h"
#include "libs/planner/limits.h"
#include "libs/planner/planner.h"

namespace cairn::bench {
namespace {

using placement::Arrival;
using placement::PlanQuery;
using placement::TraceWorld;

// A trace does not say how long a last block is that is not full: half of one.
constexpr std::uint32_t kGrid = 2;

std::uint64_t TokensOf(std::uint32_t length, std::uint32_t full) {
  return length > full ? std::uint64_t{length} * kGrid - 1 : std::uint64_t{full} * kGrid;
}

// Entries are numbered from 1.
planner::Observation ObservationOf(const TraceWorld& world, const Arrival& arrival,
                                   std::uint64_t request, bool was_served) {
  planner::Observation seen{.entry_length = 1,
                            .request_length = TokensOf(arrival.length, arrival.end),
                            .request_entry = request + 1,
                            .was_served = was_served};
  if (!arrival.matched.has_value()) return seen;
  const std::uint32_t entry = *arrival.matched;
  seen.entry = std::uint64_t{entry} + 1;
  seen.entry_length = TokensOf(world.LengthOf(entry), world.EndOf(entry));
  seen.overlap_depth =
      std::min({std::uint64_t{arrival.agreed} * kGrid, seen.entry_length, seen.request_length});
  return seen;
}

planner::PlanQuestion QuestionOf(const PlanQuery& query, std::uint64_t length) {
  planner::PlanQuestion question{.length = length,
                                 .resume_depth = std::uint64_t{query.shape.resume} * kGrid,
                                 .shared_depth = std::uint64_t{query.shape.shared} * kGrid,
                                 .existing = {},
                                 .branches = {},
                                 .budget = query.states_max};
  for (const std::uint32_t depth : query.held) {
    question.existing.push_back(std::uint64_t{depth} * kGrid);
  }
  for (const placement::BranchPoint& branch : query.branches) {
    question.branches.push_back(
        {.depth = std::uint64_t{branch.depth} * kGrid, .claims = branch.claims});
  }
  return question;
}

}  // namespace

absl::StatusOr<placement::ReplayLine> ReplayService(absl::Span<const placement::TraceRequest> trace,
                                                    std::uint32_t budget, std::uint32_t thinning,
                                                    absl::FunctionRef<bool(std::size_t)> watch) {
  CAIRN_ASSIGN_OR_RETURN(
      const std::unique_ptr<planner::Planner> planner,
      planner::Planner::Create(
          {.grid_tokens = kGrid,
           .states_per_entry = budget,
           .entries_max = std::clamp(2 * trace.size(), planner::limits::kEntriesMin,
                                     planner::limits::kEntriesMax)}));
  planner->SetThinning(thinning);
  TraceWorld world;
  placement::ReplayLine line;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Arrival arrival = world.Look(trace[i], budget);
    const PlanQuery query = world.Meet(arrival);
    const planner::Observation seen = ObservationOf(world, arrival, i, query.shape.resume > 0);
    absl::Status status = planner->Observe(seen);
    const auto answer = planner->Plan(QuestionOf(query, seen.request_length));
    if (status.ok()) status = answer.status();
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("request ", i, " of the trace: ", status.message()));
    }
    std::vector<std::uint32_t> plan;
    for (const std::uint64_t position : answer->positions) {
      plan.push_back(static_cast<std::uint32_t>(position / kGrid));
    }
    line.saved += query.shape.resume;
    line.ceiling += arrival.shared;
    line.states += world.Store(trace[i], arrival, query, std::move(plan));
    ++line.requests;
    if (!watch(i + 1)) return absl::CancelledError("interrupted");
  }
  return line;
}

}  // namespace cairn::bench
