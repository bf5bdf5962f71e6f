#include "libs/placement/replay.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/entry_tree.h"
#include "libs/placement/expert_panel.h"

namespace cairn::placement {
namespace {

// The latest request through each node.
using Latest = absl::flat_hash_map<std::uint64_t, EntryTree::Entry>;

ExpertPanel::Arrival ArrivalOf(const TraceRequest& request, const Latest& latest,
                               std::uint32_t states_max) {
  const auto length = static_cast<std::uint32_t>(request.blocks.size());
  ExpertPanel::Arrival arrival{
      .length = length, .end = request.full_blocks, .states_max = states_max};
  std::uint32_t seen = 0;
  while (seen < length && latest.contains(request.blocks[seen])) ++seen;
  if (seen == 0) return arrival;
  arrival.shared = std::min(seen, length - 1);
  arrival.agreed = seen;
  arrival.matched = latest.find(request.blocks[seen - 1])->second;
  return arrival;
}

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
  Latest latest;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const absl::StatusOr<ExpertPanel::Outcome> outcome =
        panel->Arrive(ArrivalOf(trace[i], latest, states_max));
    if (!outcome.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("request ", i, " of the trace: ", outcome.status().message()));
    }
    for (const std::uint64_t block : trace[i].blocks) latest[block] = outcome->entry;
    if (watch && !watch(i + 1)) {
      return absl::CancelledError(absl::StrCat("replay ended after ", i + 1, " requests"));
    }
  }
  ReplayReport report{.followed = LineOf(*panel, panel->Real()), .experts = {}, .last_leader = {}};
  report.followed.strategy = "followed";
  for (std::size_t e = 0; e < panel->experts(); ++e) {
    report.experts.push_back(LineOf(*panel, panel->ScoreOf(e)));
  }
  report.last_leader = report.experts[panel->Leader()].strategy;
  return report;
}

}  // namespace cairn::placement
