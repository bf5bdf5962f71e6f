#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "libs/base/status_macros.h"
#include "tools/cairnctl/json_text.h"
#include "tools/cairnctl/message_json.h"
#include "tools/cairnctl/placement_client.h"
#include "tools/cairnctl/plan_question.h"
#include "tools/cairnctl/table.h"
#include "tools/cairnctl/verb.h"

namespace cairn {
namespace {

namespace pb = placement::v1;

constexpr std::uint64_t kSimulatedMax = 64;

std::string ShowTokens(double tokens) { return absl::StrFormat("%.0f", tokens); }

absl::StatusOr<pb::ExplainResponse> ExplainOf(PlacementClient& service,
                                              const pb::PlanRequest& plan) {
  pb::ExplainRequest request;
  *request.mutable_plan() = plan;
  return service.Explain(request);
}

void PrintStrategies(std::ostream& out, const pb::ExplainResponse& explained) {
  Table table({"STRATEGY", "STATES", "EXPECTED RECOMPUTE", "POSITIONS"});
  for (const pb::Strategy& strategy : explained.strategies()) {
    // Dense stands everywhere: a list of it tells nothing.
    const bool is_long = strategy.positions_size() > 16;
    table.Add({ShowText(strategy.name()), absl::StrCat(strategy.positions_size()),
               ShowTokens(strategy.expected_recompute()),
               is_long ? absl::StrCat(strategy.positions(0), ", ..., ",
                                      strategy.positions(strategy.positions_size() - 1))
                       : ShowPositions(strategy.positions())});
  }
  table.Print(out);
}

// ---- explain ----

void PrintFamily(std::ostream& out, const pb::PlanResponse& plan,
                 const pb::ExplainResponse& explained) {
  const pb::Family& family = explained.family();
  Table table({"FAMILY", ShowFamily(family.family())});
  table.Add({"requests", absl::StrCat(family.requests())});
  table.Add({"claims", absl::StrCat(family.claims(), ", served by an older state ", family.served(),
                                    ", censored ", family.censored())});
  table.Add({"plan", ShowPositions(plan.positions())});
  table.Add({"by", ShowText(plan.expert())});
  table.Add({"reason", plan.reason()});
  table.Add({"expected recompute", absl::StrCat(ShowTokens(plan.expected_recompute()), " tokens")});
  table.Add({"robust within",
             explained.radius_tokens() < 0
                 ? "too few claims to say"
                 : absl::StrCat(ShowTokens(explained.radius_tokens()), " tokens a claim (95 %)")});
  table.Print(out);
}

void PrintExperts(std::ostream& out, const pb::ExplainResponse& explained) {
  Table table({"EXPERT", "LEADS", "SAVED TOKENS", "STATES", "SHARE, ALL FAMILIES"});
  for (const pb::Expert& expert : explained.experts()) {
    table.Add({ShowText(expert.name()), expert.is_leader() ? "yes" : "",
               absl::StrCat(expert.saved_tokens()), absl::StrCat(expert.states()),
               absl::StrFormat("%.3f", expert.pooled_share())});
  }
  table.Print(out);
}

void PrintDistances(std::ostream& out, const pb::ExplainResponse& explained) {
  Table table({"BEFORE THE END", "CLAIMS", "EXPOSED POSITIONS"});
  for (const pb::DistanceBin& bin : explained.distances()) {
    if (bin.claims() == 0 && bin.positions() == 0) continue;
    table.Add({absl::StrCat(bin.first(), " to ", bin.end()), absl::StrFormat("%.1f", bin.claims()),
               absl::StrFormat("%.1f", bin.positions())});
  }
  if (table.rows() > 0) table.Print(out);
}

ExitCode RunExplain(const Invocation& call) {
  return AskPlacement(call, [&](PlacementClient& service) -> absl::StatusOr<ExitCode> {
    CAIRN_ASSIGN_OR_RETURN(const pb::PlanRequest request, PlanRequestOf(call, 2));
    CAIRN_ASSIGN_OR_RETURN(const pb::PlanResponse plan, service.Plan(request));
    CAIRN_ASSIGN_OR_RETURN(const pb::ExplainResponse explained, ExplainOf(service, request));
    std::ostream& out = call.streams.out;
    if (call.output == OutputForm::kJson) {
      boost::json::object json = JsonWithFamilies(explained);
      json["plan"] = JsonOf(plan);
      PrintJson(out, json);
      return kExitDone;
    }
    PrintFamily(out, plan, explained);
    out << "\n";
    PrintExperts(out, explained);
    out << "\n";
    PrintDistances(out, explained);
    return kExitDone;
  });
}

// ---- simulate ----

ExitCode RunSimulate(const Invocation& call) {
  return AskPlacement(call, [&](PlacementClient& service) -> absl::StatusOr<ExitCode> {
    CAIRN_ASSIGN_OR_RETURN(pb::PlanRequest request, PlanRequestOf(call, 8));
    if (request.budget() > kSimulatedMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("--budget: ", request.budget(), " plans, at most ", kSimulatedMax));
    }
    const std::uint64_t most = request.budget();
    Table table({"BUDGET", "EXPECTED RECOMPUTE", "BY", "POSITIONS"});
    boost::json::array plans;
    for (std::uint64_t budget = 0; budget <= most; ++budget) {
      request.set_budget(budget);
      CAIRN_ASSIGN_OR_RETURN(const pb::PlanResponse plan, service.Plan(request));
      table.Add({absl::StrCat(budget), ShowTokens(plan.expected_recompute()),
                 ShowText(plan.expert()), ShowPositions(plan.positions())});
      boost::json::object json = JsonOf(plan);
      json["budget"] = budget;
      plans.push_back(std::move(json));
    }
    if (call.output == OutputForm::kJson) {
      PrintJson(call.streams.out, boost::json::object{{"plans", std::move(plans)}});
    } else {
      table.Print(call.streams.out);
    }
    return kExitDone;
  });
}

// ---- compare ----

ExitCode RunCompare(const Invocation& call) {
  return AskPlacement(call, [&](PlacementClient& service) -> absl::StatusOr<ExitCode> {
    CAIRN_ASSIGN_OR_RETURN(const pb::PlanRequest request, PlanRequestOf(call, 2));
    CAIRN_ASSIGN_OR_RETURN(const pb::ExplainResponse explained, ExplainOf(service, request));
    if (call.output == OutputForm::kJson) {
      PrintJson(call.streams.out,
                boost::json::object{{"strategies", JsonOf(explained)["strategies"]}});
    } else {
      PrintStrategies(call.streams.out, explained);
    }
    return kExitDone;
  });
}

constexpr char kUsage[] = "FAMILY --length=TOKENS [FLAGS]";

}  // namespace

extern const Verb kPlanExplainVerb;
const Verb kPlanExplainVerb = {
    .name = "plan explain",
    .usage = kUsage,
    .summary = "where an entry's states would stand, and why",
    .help =
        "Asks where the states of an entry of this family and length would stand, and prints what "
        "the\n"
        "service knows of the family: whose rule it follows, how the others fared, and where "
        "requests\n"
        "part from entries. Asking changes nothing.\n"
        "RPCs: cairn.placement.v1.Placement.Plan, Explain",
    .args_min = 1,
    .args_max = 1,
    .flags = kPlanFlags,
    .asks = Asks::kPlacement,
    .run = RunExplain,
};

extern const Verb kPlanSimulateVerb;
const Verb kPlanSimulateVerb = {
    .name = "plan simulate",
    .usage = kUsage,
    .summary = "the plans of an entry for every budget, and what each would save",
    .help =
        "Asks for a plan with 0, 1, ... --budget new states and prints the tokens that each leaves "
        "to\n"
        "be computed again over the entry's life. Asking changes nothing. To replay a whole "
        "trace:\n"
        "cairn-bench placement.\n"
        "RPC: cairn.placement.v1.Placement.Plan, once for each budget",
    .args_min = 1,
    .args_max = 1,
    .flags = kPlanFlags,
    .asks = Asks::kPlacement,
    .run = RunSimulate,
};

extern const Verb kPlanCompareVerb;
const Verb kPlanCompareVerb = {
    .name = "plan compare",
    .usage = kUsage,
    .summary = "the plan of an entry beside those of other strategies",
    .help =
        "Prints where the followed strategy, each expert, balanced and dense (the ceiling) would "
        "have\n"
        "the states of this entry, and the tokens that each leaves to be computed again.\n"
        "RPC: cairn.placement.v1.Placement.Explain",
    .args_min = 1,
    .args_max = 1,
    .flags = kPlanFlags,
    .asks = Asks::kPlacement,
    .run = RunCompare,
};

}  // namespace cairn
