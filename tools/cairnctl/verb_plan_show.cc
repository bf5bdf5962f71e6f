#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
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

absl::StatusOr<pb::ListFamiliesRequest> RequestOf(const Invocation& call) {
  pb::ListFamiliesRequest request;
  const auto limit = call.flags.find("limit");
  if (limit == call.flags.end()) return request;
  std::uint32_t value = 0;
  if (!absl::SimpleAtoi(limit->second, &value) || value == 0 || value > 1000) {
    return absl::InvalidArgumentError(
        absl::StrCat("--limit is a number from 1 to 1000, not \"", limit->second, "\""));
  }
  request.set_limit(value);
  return request;
}

void PrintService(std::ostream& out, const std::string& endpoint,
                  const pb::StatusResponse& status) {
  Table table({"PLACEMENT", endpoint});
  table.Add({"uptime", ShowDuration(status.uptime())});
  table.Add({"security", status.is_dev_mode() ? "dev mode without TLS" : "mutual TLS"});
  table.Add({"grid", absl::StrCat(status.grid_tokens(), " tokens")});
  table.Add(
      {"last snapshot", status.generation() == 0 ? "none" : absl::StrCat(status.generation())});
  table.Add({"started from", status.restored_generation() == 0
                                 ? "nothing"
                                 : absl::StrCat("snapshot ", status.restored_generation())});
  table.Add({"damage found", status.damage().empty() ? "none" : ShowText(status.damage())});
  table.Print(out);
}

void PrintFamilies(std::ostream& out, const pb::ListFamiliesResponse& families) {
  if (families.families().empty()) {
    out << "no families: nothing has been observed\n";
    return;
  }
  Table table({"FAMILY", "REQUESTS", "CLAIMS", "SERVED", "CENSORED", "CEILING TOKENS"});
  for (const pb::Family& family : families.families()) {
    table.Add({ShowFamily(family.family()), absl::StrCat(family.requests()),
               absl::StrCat(family.claims()), absl::StrCat(family.served()),
               absl::StrCat(family.censored()), absl::StrCat(family.ceiling_tokens())});
  }
  table.Print(out);
}

ExitCode RunShow(const Invocation& call) {
  return AskPlacement(call, [&](PlacementClient& service) -> absl::StatusOr<ExitCode> {
    CAIRN_ASSIGN_OR_RETURN(const pb::ListFamiliesRequest request, RequestOf(call));
    CAIRN_ASSIGN_OR_RETURN(const pb::StatusResponse status, service.Status());
    CAIRN_ASSIGN_OR_RETURN(const pb::ListFamiliesResponse families, service.ListFamilies(request));
    std::ostream& out = call.streams.out;
    if (call.output == OutputForm::kJson) {
      boost::json::object json = JsonOf(status);
      json["families"] = JsonWithFamilies(families)["families"];
      PrintJson(out, json);
      return kExitDone;
    }
    PrintService(out, service.endpoint(), status);
    out << "\n";
    PrintFamilies(out, families);
    out << "\n";
    Table counters({"COUNTER", "VALUE"});
    for (const auto& [name, value] : std::map(status.counters().begin(), status.counters().end())) {
      counters.Add({name, absl::StrCat(value)});
    }
    counters.Print(out);
    return kExitDone;
  });
}

constexpr Flag kFlags[] = {
    {"limit", "N", "families at most, the most recently used first (default 100, at most 1000)"},
};

}  // namespace

extern const Verb kPlanShowVerb;
const Verb kPlanShowVerb = {
    .name = "plan show",
    .usage = "[--limit=N]",
    .summary = "what the placement service knows: families and counters",
    .help =
        "Prints the service's snapshots, the families of prompts that it has seen lately (in hex) "
        "and\n"
        "every counter.\n"
        "RPCs: cairn.placement.v1.Placement.Status, ListFamilies",
    .flags = kFlags,
    .asks = Asks::kPlacement,
    .run = RunShow,
};

}  // namespace cairn
