#include "services/placement/placement_convert.h"

#include <iterator>

namespace cairn {
namespace {

using planner::PlannerStats;

constexpr struct {
  const char* name;
  std::uint64_t PlannerStats::*field;
} kCounters[] = {
    {"observations", &PlannerStats::observations},
    {"exposures", &PlannerStats::exposures},
    {"observations_refused", &PlannerStats::observations_refused},
    {"exposures_refused", &PlannerStats::exposures_refused},
    {"observations_thinned", &PlannerStats::observations_thinned},
    {"exposures_thinned", &PlannerStats::exposures_thinned},
    {"thinning", &PlannerStats::thinning},
    {"repeated", &PlannerStats::repeated},
    {"censored", &PlannerStats::censored},
    {"entries_adopted", &PlannerStats::entries_adopted},
    {"entries", &PlannerStats::entries},
    {"requests", &PlannerStats::requests},
    {"restarts", &PlannerStats::restarts},
    {"plans", &PlannerStats::plans},
    {"plans_refused", &PlannerStats::plans_refused},
    {"families", &PlannerStats::families},
    {"families_evicted", &PlannerStats::families_evicted},
};
static_assert(sizeof(PlannerStats) == std::size(kCounters) * sizeof(std::uint64_t),
              "a counter of PlannerStats has no name");

}  // namespace

planner::Observation ObservationOf(const placement::v1::Observation& observation) {
  return {.family = observation.family(),
          .entry = observation.entry_id(),
          .entry_length = observation.entry_length(),
          .overlap_depth = observation.overlap_depth(),
          .request_length = observation.request_length(),
          .request_entry = observation.request_entry_id(),
          .was_served = observation.served(),
          .is_censored = observation.censored(),
          .weight = observation.weight() == 0 ? 1 : observation.weight()};
}

planner::PlanQuestion QuestionOf(const placement::v1::PlanRequest& request) {
  planner::PlanQuestion question{.family = request.family(),
                                 .length = request.length(),
                                 .resume_depth = request.resume_depth(),
                                 .shared_depth = request.shared_depth(),
                                 .existing = {request.existing().begin(), request.existing().end()},
                                 .branches = {},
                                 .budget = request.budget(),
                                 .grid = request.grid()};
  for (const placement::v1::BranchPoint& branch : request.branches()) {
    question.branches.push_back({.depth = branch.depth(), .claims = branch.claims()});
  }
  return question;
}

void Fill(const planner::PlanAnswer& answer, placement::v1::PlanResponse* out) {
  out->mutable_positions()->Assign(answer.positions.begin(), answer.positions.end());
  out->set_expected_recompute(answer.expected_recompute);
  out->set_expert(answer.expert);
  out->set_reason(answer.reason);
}

void Fill(const planner::FamilyReport& family, placement::v1::Family* out) {
  out->set_family(family.family);
  out->set_requests(family.requests);
  out->set_claims(family.claims);
  out->set_served(family.served);
  out->set_censored(family.censored);
  out->set_ceiling_tokens(family.ceiling_tokens);
  out->set_thinned(family.thinned);
}

void Fill(const planner::Explanation& explanation, placement::v1::ExplainResponse* out) {
  Fill(explanation.family, out->mutable_family());
  for (const planner::ExpertReport& expert : explanation.experts) {
    placement::v1::Expert& shown = *out->add_experts();
    shown.set_name(expert.name);
    shown.set_saved_tokens(expert.saved_tokens);
    shown.set_states(expert.states);
    shown.set_pooled_share(expert.pooled_share);
    shown.set_is_leader(expert.is_leader);
  }
  for (const planner::DistanceCount& bin : explanation.distances) {
    placement::v1::DistanceBin& shown = *out->add_distances();
    shown.set_first(bin.first);
    shown.set_end(bin.end);
    shown.set_claims(bin.claims);
    shown.set_positions(bin.positions);
  }
  for (const planner::StrategyReport& strategy : explanation.strategies) {
    placement::v1::Strategy& shown = *out->add_strategies();
    shown.set_name(strategy.name);
    shown.mutable_positions()->Assign(strategy.positions.begin(), strategy.positions.end());
    shown.set_expected_recompute(strategy.expected_recompute);
  }
  out->set_radius_tokens(explanation.radius_tokens.value_or(-1));
}

std::map<std::string, std::uint64_t> CountersOf(const PlacementHost::Report& report) {
  std::map<std::string, std::uint64_t> out;
  for (const auto& counter : kCounters) out[counter.name] = report.planner.*counter.field;
  out["lessons_dropped"] = report.lessons_dropped;
  out["snapshots"] = report.snapshots;
  out["snapshots_failed"] = report.snapshots_failed;
  return out;
}

}  // namespace cairn
