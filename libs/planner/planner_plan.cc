#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/baselines.h"
#include "libs/placement/limits.h"
#include "libs/placement/line_problem.h"
#include "libs/placement/robustness.h"
#include "libs/planner/limits.h"
#include "libs/planner/planner.h"

// What a Planner answers: Plan and Explain.
namespace cairn::planner {
namespace {

using placement::PlanQuery;
using Positions = std::vector<std::uint32_t>;

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", what));
}

bool Holds(const Positions& ascending, std::uint32_t position) {
  return std::binary_search(ascending.begin(), ascending.end(), position);
}

// Ascending, each once.
void Tidy(Positions& positions) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

// Ascending, those at one position together.
void Tidy(std::vector<placement::BranchPoint>& branches) {
  std::stable_sort(branches.begin(), branches.end(),
                   [](const auto& a, const auto& b) { return a.depth < b.depth; });
  std::vector<placement::BranchPoint> tidy;
  for (const placement::BranchPoint& branch : branches) {
    if (tidy.empty() || tidy.back().depth != branch.depth) {
      tidy.push_back(branch);
    } else {
      tidy.back().claims += branch.claims;
    }
  }
  branches = std::move(tidy);
}

}  // namespace

absl::StatusOr<PlanQuery> Planner::QueryOf(const PlanQuestion& question) const {
  constexpr std::uint64_t kClaimsMax = 1 << 16;
  const std::uint64_t grid = options_.grid_tokens;
  CAIRN_RETURN_IF_ERROR(CheckLength("length", question.length));
  if (question.grid != 0 && question.grid != grid) {
    return Bad("grid", absl::StrCat(question.grid, " tokens, but this service counts in ", grid));
  }
  if (question.resume_depth > question.length || question.resume_depth % grid != 0) {
    return Bad("resume_depth", absl::StrCat("a multiple of ", grid, " up to ", question.length,
                                            ", not ", question.resume_depth));
  }
  if (question.shared_depth > question.length) {
    return Bad("shared_depth", absl::StrCat(question.shared_depth, " of ", question.length));
  }
  if (question.budget > placement::limits::kEntryStatesMax) {
    return Bad("budget", absl::StrCat("at most ", placement::limits::kEntryStatesMax, ", not ",
                                      question.budget));
  }
  if (question.existing.size() > placement::limits::kEntryPositionsMax ||
      question.branches.size() > limits::kBranchesMax) {
    return Bad("existing, branches", "more of them than positions");
  }
  PlanQuery query{.shape = {.family = question.family,
                            .end = BlocksOf(question.length),
                            .resume = BlocksOf(question.resume_depth),
                            .shared = BlocksOf(question.shared_depth)},
                  .branches = {},
                  .held = {},
                  .states_max = static_cast<std::uint32_t>(question.budget)};
  for (const std::uint64_t depth : question.existing) {
    if (depth > question.length || depth % grid != 0) {
      return Bad("existing",
                 absl::StrCat("multiples of ", grid, " up to ", question.length, ", not ", depth));
    }
    if (depth > question.resume_depth) query.held.push_back(BlocksOf(depth));
  }
  Tidy(query.held);
  const std::uint32_t last = std::min(query.shape.shared, query.shape.end);
  for (const BranchAsked& branch : question.branches) {
    if (branch.depth > question.length || branch.claims == 0 || branch.claims > kClaimsMax) {
      return Bad("branches", absl::StrCat("depth ", branch.depth, " of ", question.length, " with ",
                                          branch.claims, " claims of 1 to ", kClaimsMax));
    }
    const std::uint32_t depth = BlocksOf(branch.depth);
    if (depth <= query.shape.resume || depth > last || Holds(query.held, depth)) continue;
    query.branches.push_back({.depth = depth,
                              .claims = static_cast<std::uint32_t>(branch.claims),
                              .parted_before_end = query.shape.end - depth});
  }
  Tidy(query.branches);
  return query;
}

Positions Planner::Taken(const PlanQuery& query, Positions plan) {
  Positions taken;
  std::sort(plan.begin(), plan.end(), std::greater<>());
  for (const std::uint32_t position : plan) {
    if (taken.size() >= query.states_max) break;
    const bool can_stand = position > query.shape.resume && position <= query.shape.end &&
                           !Holds(query.held, position);
    if (can_stand && (taken.empty() || taken.back() != position)) taken.push_back(position);
  }
  std::reverse(taken.begin(), taken.end());
  return taken;
}

double Planner::Recompute(const PlanQuery& query, const Positions& plan) const {
  for (std::size_t e = 0; e < panel_->experts(); ++e) {
    const std::optional<placement::LineProblem> law = panel_->ExpertAt(e).Law(query);
    if (!law.has_value()) continue;
    const absl::StatusOr<std::int64_t> cost = placement::LineCost(*law, plan);
    if (!cost.ok()) return 0;
    return static_cast<double>(*cost) / placement::limits::kWeightUnit * options_.grid_tokens;
  }
  return 0;
}

std::vector<std::uint64_t> Planner::TokensOf(const Positions& positions) const {
  std::vector<std::uint64_t> tokens;
  for (const std::uint32_t position : positions) {
    tokens.push_back(std::uint64_t{position} * options_.grid_tokens);
  }
  return tokens;
}

std::string Planner::ReasonFor(std::uint64_t id, const PlanQuery& query,
                               std::size_t planned) const {
  if (query.shape.end <= query.shape.resume) return "nothing below the resume point is left";
  if (query.states_max == 0) return "no budget";
  const FamilyBook::Family* const family = families_.Find(id);
  const std::uint64_t requests = family == nullptr ? 0 : family->requests;
  std::string reason =
      requests >= FamilyBook::kEstablished
          ? absl::StrCat("saved most of ", requests, " requests of this family")
          : absl::StrCat("saves most over all families; this one has ", requests, " requests");
  if (planned < query.states_max) {
    absl::StrAppend(&reason, "; further states would not pay");
  }
  return reason;
}

absl::StatusOr<PlanAnswer> Planner::Plan(const PlanQuestion& question) {
  const absl::StatusOr<PlanQuery> query = QueryOf(question);
  ++(query.ok() ? stats_.plans : stats_.plans_refused);
  if (!query.ok()) return query.status();
  if (asked_.size() < limits::kAskedMax) asked_.push_back(question.family);
  const placement::Expert& expert = panel_->ExpertAt(families_.LeaderOf(question.family));
  const Positions positions = Taken(*query, expert.Plan(*query));
  return PlanAnswer{.positions = TokensOf(positions),
                    .expected_recompute = Recompute(*query, positions),
                    .expert = std::string(expert.name()),
                    .reason = ReasonFor(question.family, *query, positions.size())};
}

StrategyReport Planner::StrategyOf(std::string name, const PlanQuery& query, Positions plan) const {
  return {.name = std::move(name),
          .positions = TokensOf(plan),
          .expected_recompute = Recompute(query, plan)};
}

absl::StatusOr<Explanation> Planner::Explain(const PlanQuestion& question) const {
  CAIRN_ASSIGN_OR_RETURN(const PlanQuery query, QueryOf(question));
  const FamilyBook::Family* const known = families_.Find(question.family);
  const FamilyBook::Family family = known == nullptr ? FamilyBook::Family() : *known;
  const std::size_t leader = families_.LeaderOf(question.family);
  const std::uint64_t grid = options_.grid_tokens;
  Explanation out{.family = ReportOf(question.family, family),
                  .experts = {},
                  .distances = {},
                  .strategies = {},
                  .radius_tokens = {}};
  out.strategies.push_back(
      StrategyOf("followed", query, Taken(query, panel_->ExpertAt(leader).Plan(query))));
  for (std::size_t e = 0; e < panel_->experts(); ++e) {
    const std::string name(panel_->ExpertAt(e).name());
    out.experts.push_back({.name = name,
                           .saved_tokens = family.saved[e] * grid,
                           .states = family.states[e],
                           .pooled_share = families_.PooledShare(e),
                           .is_leader = e == leader});
    out.strategies.push_back(
        StrategyOf(name, query, Taken(query, panel_->ExpertAt(e).Plan(query))));
  }
  const std::uint32_t below = query.shape.end - std::min(query.shape.end, query.shape.resume);
  Positions balanced = placement::BalancedPlan(below, query.states_max);
  for (std::uint32_t& position : balanced) position += query.shape.resume;
  out.strategies.push_back(StrategyOf("balanced", query, Taken(query, balanced)));
  Positions dense;  // the ceiling: whatever the budget
  for (std::uint32_t d = query.shape.resume + 1; d <= query.shape.end; ++d) dense.push_back(d);
  out.strategies.push_back(StrategyOf("dense", query, std::move(dense)));
  for (std::uint32_t bin = 0; bin < family.distances.bins(); ++bin) {
    out.distances.push_back({.first = placement::DistanceBinStart(bin) * grid,
                             .end = placement::DistanceBinStart(bin + 1) * grid,
                             .claims = family.distances.ClaimsIn(bin),
                             .positions = family.distances.PositionsIn(bin)});
  }
  const absl::StatusOr<double> radius =
      placement::RobustnessRadius({.observations = family.distances.EffectiveClaims(),
                                   .atoms = below,
                                   .depth_max = static_cast<double>(below)});
  if (radius.ok() && *radius < below) out.radius_tokens = *radius * static_cast<double>(grid);
  return out;
}

}  // namespace cairn::planner
