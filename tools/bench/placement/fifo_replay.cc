#include "tools/bench/placement/fifo_replay.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/baselines.h"
#include "libs/placement/default_experts.h"
#include "libs/placement/paper_expert.h"
#include "libs/planner/limits.h"
#include "libs/planner/planner.h"
#include "tools/bench/placement/fifo_world.h"
#include "tools/bench/placement/stopwatch.h"

namespace cairn::bench {
namespace {

using Positions = std::vector<std::uint32_t>;
using placement::PlanQuery;

// Asked for a plan for a request that meets `look`, then told that it was stored.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual absl::StatusOr<Positions> Plan(const LogRequest& request,
                                         const FifoWorld::Look& look) = 0;
  virtual void Stored(const FifoWorld::Look& look) {}
};

// An expert alone, in the world that its own plans make.
class ExpertAlone : public Strategy {
 public:
  explicit ExpertAlone(std::unique_ptr<placement::Expert> expert) : expert_(std::move(expert)) {}
  absl::StatusOr<Positions> Plan(const LogRequest& request, const FifoWorld::Look& look) override {
    if (look.matched.has_value()) {
      expert_->Observe({.entry = look.matched->shape,
                        .depth = look.query.shape.shared,
                        .node_claims = look.node_claims,
                        .node_parted_before_end = look.node_parted_before_end});
    }
    return expert_->Plan(look.query);
  }
  void Stored(const FifoWorld::Look& look) override { expert_->Expose(look.query.shape, 1); }

 private:
  std::unique_ptr<placement::Expert> expert_;
};

// The service: what nodes tell it, what workers ask.
class Service : public Strategy {
 public:
  explicit Service(std::unique_ptr<planner::Planner> planner) : planner_(std::move(planner)) {}
  absl::StatusOr<Positions> Plan(const LogRequest& request, const FifoWorld::Look& look) override {
    CAIRN_RETURN_IF_ERROR(Tell(request, look));
    const placement::EntryShape& shape = look.query.shape;
    planner::PlanQuestion question{.family = shape.family,
                                   .length = request.length,
                                   .resume_depth = std::uint64_t{shape.resume} * kLogGrid,
                                   .shared_depth = std::uint64_t{shape.shared} * kLogGrid,
                                   .existing = {},
                                   .branches = {},
                                   .budget = look.query.states_max,
                                   .grid = kLogGrid};
    for (const placement::BranchPoint& branch : look.query.branches) {
      question.branches.push_back(
          {.depth = std::uint64_t{branch.depth} * kLogGrid, .claims = branch.claims});
    }
    CAIRN_ASSIGN_OR_RETURN(const planner::PlanAnswer answer, planner_->Plan(question));
    Positions positions;
    for (const std::uint64_t position : answer.positions) {
      positions.push_back(static_cast<std::uint32_t>(position / kLogGrid));
    }
    return positions;
  }

 private:
  // Entries are numbered from 1.
  absl::Status Tell(const LogRequest& request, const FifoWorld::Look& look) {
    const std::uint64_t entry = ++entries_;
    const placement::EntryShape& shape = look.query.shape;
    if (!look.matched.has_value()) {
      return planner_->Expose({.family = shape.family, .entry = entry, .length = request.length});
    }
    const std::uint64_t overlap =
        std::min(std::uint64_t{shape.shared} * kLogGrid, std::uint64_t{look.matched->length});
    return planner_->Observe({.family = shape.family,
                              .entry = look.matched->request + 1,
                              .entry_length = look.matched->length,
                              .overlap_depth = overlap,
                              .request_length = request.length,
                              .request_entry = entry,
                              .was_served = shape.resume > 0});
  }

  std::unique_ptr<planner::Planner> planner_;
  std::uint64_t entries_ = 0;
};

absl::StatusOr<FifoFigures> Replay(std::string name, Strategy& strategy,
                                   absl::Span<const LogRequest> requests, std::size_t entries_max,
                                   std::uint32_t budget) {
  FifoFigures figures{.strategy = std::move(name)};
  FifoWorld world(entries_max);
  absl::flat_hash_map<std::string, std::uint64_t> families;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const LogRequest& request = requests[i];
    const std::uint64_t family =
        families.try_emplace(request.conversation, families.size() + 1).first->second;
    FifoWorld::Look look = world.LookUp(request, family);
    look.query.states_max = budget;
    figures.tokens_saved += std::uint64_t{look.query.shape.resume} * kLogGrid;
    const Stopwatch watch;
    const absl::StatusOr<Positions> plan = strategy.Plan(request, look);
    figures.solver_s += watch.Seconds();
    if (!plan.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("request ", i + 1, " of the log: ", plan.status().message()));
    }
    figures.states += world.Store(request, look, *plan);
    strategy.Stored(look);
  }
  return figures;
}

Positions BranchElse(const PlanQuery& query, std::uint32_t depth) {
  const bool has_parted = query.shape.shared > query.shape.resume;
  return {has_parted ? query.shape.shared : depth};
}

Positions DensePlan(const PlanQuery& query) { return placement::BlockPlan(query.shape.end, 1); }

void CountRegret(FifoReport& report) {
  const auto best = std::max_element(
      report.strategies.begin() + 1, report.strategies.end(),
      [](const auto& a, const auto& b) { return a.tokens_saved < b.tokens_saved; });
  for (FifoFigures& one : report.strategies) {
    one.regret =
        static_cast<std::int64_t>(best->tokens_saved) - static_cast<std::int64_t>(one.tokens_saved);
  }
}

std::vector<std::pair<std::string, std::unique_ptr<placement::Expert>>> Alone() {
  using placement::BaselineExpert;
  static constexpr placement::NamedRule kOwnRules[] = {
      {"branch_else_half", [](const PlanQuery& q) { return BranchElse(q, q.shape.end / 2); }},
      {"branch_else_last64", [](const PlanQuery& q) { return BranchElse(q, q.shape.end); }},
  };
  std::vector<std::pair<std::string, std::unique_ptr<placement::Expert>>> all;
  for (const placement::NamedRule& rule : kOwnRules) {
    all.emplace_back(rule.name, std::make_unique<BaselineExpert>(rule.name, rule.rule));
  }
  for (std::unique_ptr<placement::Expert>& expert : placement::DefaultExperts()) {
    const std::string name(expert->name());
    all.emplace_back(name, std::move(expert));
  }
  all.emplace_back("paper", std::make_unique<placement::PaperExpert>());
  for (const placement::NamedRule& rule : placement::BaselineRules()) {
    const bool is_there = std::any_of(all.begin(), all.end(),
                                      [&](const auto& one) { return one.first == rule.name; });
    if (is_there) continue;
    all.emplace_back(rule.name, std::make_unique<BaselineExpert>(rule.name, rule.rule));
  }
  return all;
}

}  // namespace

absl::StatusOr<FifoReport> ReplayFifo(absl::string_view set, absl::Span<const LogRequest> requests,
                                      std::size_t entries_max, std::uint32_t budget) {
  FifoReport report{.set = std::string(set),
                    .entries_max = entries_max,
                    .budget = budget,
                    .requests = requests.size(),
                    .matched_tokens = 0,
                    .ceiling_tokens = 0,
                    .strategies = {}};
  for (const LogRequest& request : requests) {
    report.matched_tokens +=
        std::min(request.match, request.length - 1) / kLogGrid * std::uint64_t{kLogGrid};
  }
  ExpertAlone dense(std::make_unique<placement::BaselineExpert>("dense", DensePlan));
  CAIRN_ASSIGN_OR_RETURN(const FifoFigures all, Replay("dense", dense, requests, entries_max,
                                                       std::numeric_limits<std::uint32_t>::max()));
  report.ceiling_tokens = all.tokens_saved;
  CAIRN_ASSIGN_OR_RETURN(
      std::unique_ptr<planner::Planner> planner,
      planner::Planner::Create(
          {.grid_tokens = kLogGrid,
           .states_per_entry = budget,
           .entries_max = std::max(requests.size() + 1, planner::limits::kEntriesMin)}));
  Service service(std::move(planner));
  CAIRN_ASSIGN_OR_RETURN(FifoFigures followed,
                         Replay(kServiceStrategy, service, requests, entries_max, budget));
  report.strategies.push_back(std::move(followed));
  for (auto& [name, expert] : Alone()) {
    ExpertAlone alone(std::move(expert));
    CAIRN_ASSIGN_OR_RETURN(FifoFigures figures, Replay(name, alone, requests, entries_max, budget));
    report.strategies.push_back(std::move(figures));
  }
  CountRegret(report);
  return report;
}

}  // namespace cairn::bench
