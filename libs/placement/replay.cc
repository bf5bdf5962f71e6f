#include "libs/placement/replay.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/expert_panel.h"
#include "libs/placement/plan_query.h"

namespace cairn::placement {
namespace {

ReplayLine LineOf(const ExpertPanel& panel, const ExpertPanel::Score& score) {
  return {.strategy = std::string(score.expert),
          .saved = score.saved,
          .states = score.states,
          .ceiling = panel.Ceiling(),
          .requests = panel.Requests()};
}

}  // namespace

absl::StatusOr<ReplayReport> Replay(absl::Span<const TraceRequest> trace,
                                    std::vector<std::unique_ptr<Expert>> experts,
                                    std::uint32_t states_max, const ReplayWatch& watch) {
  CAIRN_ASSIGN_OR_RETURN(
      const std::unique_ptr<ExpertPanel> panel,
      ExpertPanel::Create(std::move(experts), std::max<std::size_t>(trace.size(), 1)));
  TraceWorld world;
  ReplayReport report{.followed = {.strategy = "followed"}, .experts = {}, .last_leader = {}};
  ReplayLine& followed = report.followed;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Arrival arrival = world.Look(trace[i], states_max);
    const absl::StatusOr<ExpertPanel::Outcome> outcome = panel->Arrive(arrival);
    if (!outcome.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("request ", i, " of the trace: ", outcome.status().message()));
    }
    const PlanQuery query = world.Meet(arrival);
    followed.saved += query.shape.resume;
    followed.states +=
        world.Store(trace[i], arrival, query, panel->ExpertAt(panel->Leader()).Plan(query));
    if (watch && !watch(i + 1)) {
      return absl::CancelledError(absl::StrCat("replay ended after ", i + 1, " requests"));
    }
  }
  followed.ceiling = panel->Ceiling();
  followed.requests = panel->Requests();
  for (std::size_t e = 0; e < panel->experts(); ++e) {
    report.experts.push_back(LineOf(*panel, panel->ScoreOf(e)));
  }
  report.last_leader = report.experts[panel->Leader()].strategy;
  return report;
}

}  // namespace cairn::placement
