#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "libs/base/hex.h"
#include "libs/base/status_macros.h"
#include "tools/cairnctl/json_text.h"
#include "tools/cairnctl/message_json.h"
#include "tools/cairnctl/node_client.h"
#include "tools/cairnctl/table.h"
#include "tools/cairnctl/verb.h"

namespace cairn {
namespace {

using node::v1::StatusResponse;

void PrintNode(std::ostream& out, const std::string& endpoint, const StatusResponse& status) {
  Table table({"NODE", endpoint});
  table.Add({"state", status.is_stopping() ? "stopping" : "serving"});
  table.Add({"uptime", ShowDuration(status.uptime())});
  table.Add({"security", status.is_dev_mode() ? "dev mode without TLS" : "mutual TLS"});
  table.Add({"arena", absl::StrCat(ShowBytes(status.arena_bytes()), " in segments of ",
                                   ShowBytes(status.segment_bytes()), ", pages of ",
                                   ShowBytes(status.page_bytes()))});
  table.Add({"shards", absl::StrCat(status.shards())});
  table.Add({"pin age max", ShowDuration(status.pin_age_max())});
  table.Add({"peers listen", ShowText(status.remote_address())});
  table.Add({"node boot", status.node_boot()});
  table.Add({"arena boot", status.arena_boot()});
  table.Print(out);
}

void PrintSessions(std::ostream& out, const StatusResponse& status) {
  if (status.sessions().empty()) {
    out << "no sessions\n";
    return;
  }
  Table table({"SESSION", "PRODUCER", "LANE", "PID", "AGE", "POOL", "PINNED", "OFFERS", "ROOT"});
  for (const node::v1::Session& session : status.sessions()) {
    table.Add({absl::StrCat(session.id()), ShowText(session.producer()), ShowText(session.lane()),
               absl::StrCat(session.pid()), ShowDuration(session.age()),
               ShowBytes(session.pool_bytes()), absl::StrCat(session.pinned_keys()),
               absl::StrCat(session.open_offers()), ToHex(session.root())});
  }
  table.Print(out);
}

void PrintRoots(std::ostream& out, const StatusResponse& status) {
  if (status.roots().empty()) {
    out << "no roots: no session has been opened\n";
    return;
  }
  Table table({"ROOT", "MODEL", "NAMESPACE", "SESSIONS", "ENTRIES", "BYTES"});
  for (const node::v1::RootSummary& root : status.roots()) {
    table.Add({ToHex(root.root()), ShowText(root.model()), ShowText(root.namespace_()),
               absl::StrCat(root.sessions()), absl::StrCat(root.entries()),
               ShowBytes(root.bytes())});
  }
  table.Print(out);
}

void PrintCounters(std::ostream& out, const StatusResponse& status) {
  Table table({"COUNTER", "VALUE"});
  for (const auto& [name, value] : std::map(status.counters().begin(), status.counters().end())) {
    table.Add({name, absl::StrCat(value)});
  }
  table.Print(out);
}

ExitCode RunStatus(const Invocation& call) {
  return AskNode(call, kTimeoutDefault, [&](NodeClient& node) -> absl::StatusOr<ExitCode> {
    CAIRN_ASSIGN_OR_RETURN(const StatusResponse status, node.Status());
    std::ostream& out = call.streams.out;
    if (call.output == OutputForm::kJson) {
      PrintJson(out, JsonOf(status));
      return kExitDone;
    }
    PrintNode(out, node.endpoint(), status);
    out << "\n";
    PrintSessions(out, status);
    out << "\n";
    PrintRoots(out, status);
    out << "\n";
    PrintCounters(out, status);
    return kExitDone;
  });
}

}  // namespace

extern const Verb kStatusVerb;
const Verb kStatusVerb = {
    .name = "status",
    .usage = "",
    .summary = "what a node is, has and counts",
    .help =
        "Prints a node's arena, sessions, roots and every counter. With --output=json the\n"
        "counters are in the object \"counters\", by name.\n"
        "RPC: cairn.node.v1.NodeAdmin.Status",
    .asks = Asks::kNode,
    .run = RunStatus,
};

}  // namespace cairn
