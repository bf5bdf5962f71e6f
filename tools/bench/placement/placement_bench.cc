#include <unistd.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fstream>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "libs/base/status_macros.h"
#include "tools/bench/benches.h"
#include "tools/bench/placement/agent_trace.h"
#include "tools/bench/placement/law_trace.h"
#include "tools/bench/placement/limits.h"
#include "tools/bench/placement/mooncake_trace.h"
#include "tools/bench/placement/placement_figures.h"
#include "tools/bench/placement/progress_bar.h"
#include "tools/bench/placement/published_log.h"
#include "tools/bench/placement/published_plans.h"
#include "tools/bench/placement/svg_plot.h"
#include "tools/cairnctl/table.h"

namespace cairn::bench {
namespace {

constexpr std::uint64_t kLawRequests = 4000;
constexpr std::uint64_t kFirstRequests = 4000;  // rule R9
constexpr std::uint64_t kGridTokens = 64;
// Qwen3.5-9B's recurrent state at one position (services/ARCHITECTURE.md).
constexpr std::uint64_t kStateBytes = std::uint64_t{49} << 20;
constexpr std::uint64_t kStateBytesMax = std::uint64_t{1} << 40;

struct Request {
  std::size_t requests_max = 0;
  bool is_limited = false;
  std::vector<std::uint32_t> budgets;
  std::uint64_t state_bytes = 0;
  std::string svg_file;
};

absl::StatusOr<std::vector<std::uint32_t>> ReadBudgets(const BenchCall& call) {
  std::vector<std::uint32_t> budgets;
  const std::string text = call.Text("budget", "1,2,4");
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    std::uint32_t budget = 0;
    if (!absl::SimpleAtoi(part, &budget) || budget == 0 ||
        budget > placement::limits::kEntryStatesMax || budgets.size() >= 16) {
      return absl::InvalidArgumentError(absl::StrCat("--budget is up to 16 numbers from 1 to ",
                                                     placement::limits::kEntryStatesMax,
                                                     ", as in 1,2,4, not \"", text, "\""));
    }
    budgets.push_back(budget);
  }
  return budgets;
}

absl::StatusOr<Request> ReadRequest(const BenchCall& call) {
  Request request;
  request.is_limited = call.flags.contains("limit");
  CAIRN_ASSIGN_OR_RETURN(
      request.requests_max,
      call.Number("limit", call.flags.contains("law") ? kLawRequests : limits::kRequestsMax, 1,
                  limits::kRequestsMax));
  CAIRN_ASSIGN_OR_RETURN(request.budgets, ReadBudgets(call));
  CAIRN_ASSIGN_OR_RETURN(request.state_bytes,
                         call.Number("state-bytes", kStateBytes, 1, kStateBytesMax));
  request.svg_file = call.Text("svg", "");
  if (!request.svg_file.empty() && !std::ofstream(request.svg_file).is_open()) {
    return absl::InvalidArgumentError(absl::StrCat("--svg: cannot write ", request.svg_file));
  }
  return request;
}

// Draws, and says whether to go on.
class Progress {
 public:
  explicit Progress(const BenchCall& call)
      : termination_(call.termination), bar_(call.err, ::isatty(STDERR_FILENO) == 1) {}
  bool Show(absl::string_view what, double share) {
    if (++calls_ % kCallsPerLook != 0) return true;
    bar_.Show(what, share);
    return termination_.Wait(absl::ZeroDuration()) != Termination::Event::kSignal;
  }

 private:
  static constexpr std::uint64_t kCallsPerLook = 256;
  Termination& termination_;
  ProgressBar bar_;
  std::uint64_t calls_ = 0;
};

absl::StatusOr<ReplayTrace> ReadTrace(const BenchCall& call, const Request& request,
                                      Progress& progress) {
  const auto watch = [&](double share) { return progress.Show("reading", share); };
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t block_tokens,
                         call.Number("block", kGridTokens, 1, 1 << 16));
  const auto tokens = static_cast<std::uint32_t>(block_tokens);
  if (call.flags.contains("law")) {
    CAIRN_ASSIGN_OR_RETURN(const std::uint64_t seed,
                           call.Number("seed", 1, 0, std::numeric_limits<std::uint64_t>::max()));
    return MakeLawTrace({.law = call.Text("law", ""),
                         .requests = request.requests_max,
                         .block_tokens = tokens,
                         .seed = seed});
  }
  if (call.flags.contains("agents")) {
    return ReadAgentTrace(call.Text("agents", ""),
                          {.model = call.Text("model", ""),
                           .block_tokens = tokens,
                           .requests_max = request.requests_max},
                          watch);
  }
  return ReadMooncakeTrace(call.Text("trace", ""), request.requests_max, watch);
}

void PrintBudget(const BudgetFigures& budget, const TraceFigures& figures,
                 std::uint64_t state_bytes, std::ostream& out) {
  const auto share = [&](double blocks) {
    return figures.ceiling == 0 ? 0 : blocks / static_cast<double>(figures.ceiling);
  };
  Table table({"STRATEGY", "TOKENS SAVED", "SHARE", "STATES/REQ", "BYTES/REQ", "REGRET", "SOLVER s",
               "us/PLAN"});
  std::vector<StrategyFigures> rows = budget.strategies;
  rows.insert(rows.end(), budget.planners.begin(), budget.planners.end());
  for (const StrategyFigures& one : rows) {
    const double states = static_cast<double>(one.states) / static_cast<double>(figures.requests);
    table.Add({one.strategy, absl::StrCat(one.saved * figures.block_tokens),
               absl::StrFormat("%.4f", share(static_cast<double>(one.saved))),
               absl::StrFormat("%.3f", states),
               ShowBytes(static_cast<std::uint64_t>(states * static_cast<double>(state_bytes))),
               absl::StrFormat("%+.4f", share(static_cast<double>(one.regret))),
               absl::StrFormat("%.3f", one.solver_s), absl::StrFormat("%.2f", one.plan_us)});
  }
  out << "at most " << budget.budget
      << " new states a request; the best single one: " << budget.best_single
      << "; followed in the end: " << budget.last_leader << "\n";
  table.Print(out);
  out << "\n";
}

void PrintTrace(const ReplayTrace& trace, const TraceFigures& figures, std::uint64_t state_bytes,
                std::ostream& out) {
  out << trace.name << ": " << figures.requests << " requests, blocks of " << trace.block_tokens
      << " tokens" << (trace.note.empty() ? "" : "; ") << trace.note << "\ndense states would save "
      << figures.ceiling * figures.block_tokens << " tokens\n\n";
  for (const BudgetFigures& budget : figures.budgets) {
    PrintBudget(budget, figures, state_bytes, out);
  }
  out << "who knows the future, with so many states in total\n";
  Table table({"STATES/REQ", "SHARE REACHED", "NO MORE THAN"});
  const auto whole = static_cast<double>(std::max<std::uint64_t>(figures.ceiling, 1));
  for (const OptimumFigures& point : figures.optimum) {
    table.Add({absl::StrFormat("%.3f", static_cast<double>(point.thousandths) / 1000),
               absl::StrFormat("%.5f", static_cast<double>(point.found.reached) / whole),
               absl::StrFormat("%.5f", static_cast<double>(point.found.bound) / whole)});
  }
  table.Add({absl::StrFormat("%.3f", static_cast<double>(figures.states_for_all) /
                                         static_cast<double>(figures.requests)),
             "1", "1"});
  table.Print(out);
  out << "\n";
}

absl::Status WritePlot(const std::string& file, const SvgPlot& plot) {
  if (file.empty()) return absl::OkStatus();
  std::ofstream out(file);
  out << SvgOf(plot);
  out.close();
  return out.good() ? absl::OkStatus()
                    : absl::UnavailableError(absl::StrCat("--svg: cannot write ", file));
}

absl::StatusOr<boost::json::value> RunTrace(const BenchCall& call, const Request& request,
                                            bool is_quiet) {
  Progress progress(call);
  CAIRN_ASSIGN_OR_RETURN(const ReplayTrace trace, ReadTrace(call, request, progress));
  const TraceQuestion question{.budgets = request.budgets, .is_plotted = !request.svg_file.empty()};
  const auto measure = [&](std::size_t requests) {
    return MeasureTrace(trace, requests, question, [&](double share) {
      return progress.Show(absl::StrCat("replaying ", requests, " requests"), share);
    });
  };
  boost::json::object found;
  CAIRN_ASSIGN_OR_RETURN(const TraceFigures all, measure(trace.requests.size()));
  found = JsonOf(trace, all, request.state_bytes);
  CAIRN_RETURN_IF_ERROR(WritePlot(request.svg_file, PlotOf(trace, all)));
  if (!request.is_limited && trace.requests.size() > kFirstRequests) {
    CAIRN_ASSIGN_OR_RETURN(const TraceFigures first, measure(kFirstRequests));
    found[absl::StrCat("first_", kFirstRequests)] = JsonOf(trace, first, request.state_bytes);
    if (!is_quiet) PrintTrace(trace, first, request.state_bytes, call.out);
  }
  if (!is_quiet) PrintTrace(trace, all, request.state_bytes, call.out);
  return found;
}

void PrintChecks(const std::vector<PlanCheck>& checks, std::ostream& out) {
  Table table({"PUBLISHED RUN", "BUDGET", "REQUESTS", "EQUAL PLANS", "SOLVER s"});
  for (const PlanCheck& check : checks) {
    table.Add({absl::StrCat(check.set, "/", check.rule), absl::StrCat(check.budget),
               absl::StrCat(check.requests), absl::StrCat(check.equal),
               absl::StrFormat("%.3f", check.solver_s)});
  }
  table.Print(out);
  for (const PlanCheck& check : checks) {
    if (!check.first_difference.empty()) out << "differs: " << check.first_difference << "\n";
  }
  out << "\n";
}

void PrintReplay(const FifoReport& replay, std::uint64_t state_bytes, std::ostream& out) {
  out << replay.set << ": " << replay.requests << " requests, a cache of the last "
      << replay.entries_max << ", at most " << replay.budget
      << " new states a request; states everywhere would save " << replay.ceiling_tokens
      << " tokens of " << replay.matched_tokens << " matched\n";
  Table table({"STRATEGY", "TOKENS SAVED", "SHARE", "STATES", "BYTES/REQ", "REGRET", "SOLVER s"});
  const auto whole = static_cast<double>(std::max<std::uint64_t>(replay.ceiling_tokens, 1));
  for (const FifoFigures& one : replay.strategies) {
    const double bytes =
        static_cast<double>(one.states * state_bytes) / static_cast<double>(replay.requests);
    table.Add({one.strategy, absl::StrCat(one.tokens_saved),
               absl::StrFormat("%.4f", static_cast<double>(one.tokens_saved) / whole),
               absl::StrCat(one.states), ShowBytes(static_cast<std::uint64_t>(bytes)),
               absl::StrFormat("%+.4f", static_cast<double>(one.regret) / whole),
               absl::StrFormat("%.3f", one.solver_s)});
  }
  table.Print(out);
  out << "\n";
}

absl::StatusOr<boost::json::value> RunGolden(const BenchCall& call, const Request& request,
                                             bool is_quiet) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<PublishedSet> sets,
                         ReadPublishedSets(call.Text("golden", ""), request.requests_max));
  std::vector<PlanCheck> checks;
  std::vector<FifoReport> replays;
  for (const PublishedSet& set : sets) {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<PlanCheck> checked, CheckPublishedPlans(set));
    checks.insert(checks.end(), checked.begin(), checked.end());
    const std::size_t entries_max = CacheEntries(set);
    if (entries_max == 0) {
      call.err << set.name << ": no n_cache_entries in its logs, so no replay\n";
      continue;
    }
    for (const std::uint32_t budget : request.budgets) {
      CAIRN_ASSIGN_OR_RETURN(FifoReport replay,
                             ReplayFifo(set.name, CachedRun(set).requests, entries_max, budget));
      replays.push_back(std::move(replay));
    }
  }
  CAIRN_RETURN_IF_ERROR(WritePlot(request.svg_file, PlotOf(replays)));
  if (!is_quiet) {
    PrintChecks(checks, call.out);
    for (const FifoReport& replay : replays) PrintReplay(replay, request.state_bytes, call.out);
  }
  return JsonOf(checks, replays, request.state_bytes);
}

absl::StatusOr<boost::json::value> RunPlacement(const BenchCall& call, bool is_quiet) {
  int inputs = 0;
  for (const char* input : {"trace", "golden", "agents", "law"}) {
    inputs += call.flags.contains(input) ? 1 : 0;
  }
  if (inputs != 1) {
    return absl::InvalidArgumentError("give one of --trace, --golden, --agents and --law");
  }
  CAIRN_ASSIGN_OR_RETURN(const Request request, ReadRequest(call));
  return call.flags.contains("golden") ? RunGolden(call, request, is_quiet)
                                       : RunTrace(call, request, is_quiet);
}

// A published plan that is not reproduced is a failure of ours.
bool HasDifferingPlan(const boost::json::value& found) {
  for (const char* list : {"runs", "rules"}) {
    const boost::json::value* const runs = found.get_object().if_contains(list);
    if (runs == nullptr) continue;
    for (const boost::json::value& run : runs->get_array()) {
      if (run.at("equal") != run.at("requests")) return true;
    }
  }
  return false;
}

constexpr Flag kFlags[] = {
    {"trace", "FILE", "a trace in Mooncake's form: input_length and hash_ids, a request a line"},
    {"golden", "DIR", "published logs (e2e_dp_M.jsonl, ...): plans reproduced, logs replayed"},
    {"agents", "FILE", "model calls as text: a request a line, its prompt in `input`"},
    {"law", "NAME", "a synthetic trace: uniform, sessions, documents, heads or jump"},
    {"limit", "N", "the first N requests (of a law: how many; default 4000)"},
    {"budget", "M[,M]", "new states a request at most (default 1,2,4)"},
    {"model", "FILE", "of --agents: a GGUF file with the tokenizer (default: words)"},
    {"block", "TOKENS", "of --agents and --law: where states can stand (default 64)"},
    {"seed", "N", "of --law (default 1)"},
    {"state-bytes", "N", "what a state weighs (default 49 MiB, Qwen3.5-9B's)"},
    {"svg", "FILE", "plot what is saved over the states that it takes"},
};

}  // namespace

const Bench kPlacementBench = {
    .name = "placement",
    .summary = "what the placement service would save on a trace, beside other rules",
    .help =
        "Replays a trace through the experts that cairn-placement runs, and through each of\n"
        "them and every baseline alone; beside them what an optimum that knows the future\n"
        "could save. Nothing is started and nothing measured but plans: figures are the same\n"
        "everywhere, times aside. With --golden, fails if a published plan is not reproduced.",
    .flags = kFlags,
    .run = RunPlacement,
    .is_failure = HasDifferingPlan,
};

}  // namespace cairn::bench
