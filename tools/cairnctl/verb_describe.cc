#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "libs/base/hex.h"
#include "libs/base/status_macros.h"
#include "tools/cairnctl/entry_choice.h"
#include "tools/cairnctl/json_text.h"
#include "tools/cairnctl/message_json.h"
#include "tools/cairnctl/node_client.h"
#include "tools/cairnctl/verb.h"

namespace cairn {
namespace {

void PrintEntry(std::ostream& out, const node::v1::Entry& entry) {
  Table table({"KEY", ToHex(entry.key())});
  table.Add({"root", ToHex(entry.root())});
  table.Add({"kind", ShowText(entry.kind())});
  table.Add({"bytes", absl::StrCat(entry.bytes())});
  table.Add({"checksum", absl::StrFormat("%016x", entry.checksum())});
  table.Add({"depth", absl::StrCat(entry.depth())});
  table.Add({"place", absl::StrCat("shard ", entry.shard(), ", segment ", entry.segment(),
                                   ", slot ", entry.slot(), ", generation ", entry.generation())});
  table.Add({"parent", entry.parent().empty() ? "-" : ToHex(entry.parent())});
  table.Add({"children", absl::StrCat(entry.children())});
  table.Add({"producer", ShowText(entry.producer())});
  table.Add({"age", ShowDuration(entry.age())});
  table.Add({"last use", ShowDuration(entry.since_last_use())});
  table.Add({"uses", absl::StrCat(entry.uses())});
  table.Add({"held", entry.is_held() ? "yes" : "no"});
  table.Print(out);
}

ExitCode RunDescribe(const Invocation& call) {
  return AskNode(call, kTimeoutDefault, [&](NodeClient& node) -> absl::StatusOr<ExitCode> {
    node::v1::DescribeRequest request;
    CAIRN_ASSIGN_OR_RETURN(*request.mutable_key(), DigestOf("KEY", call.args[0]));
    CAIRN_RETURN_IF_ERROR(SetRoot(call, request.mutable_root()));
    CAIRN_ASSIGN_OR_RETURN(const node::v1::DescribeResponse found, node.Describe(request));
    if (call.output == OutputForm::kJson) {
      PrintJson(call.streams.out, JsonOf(found));
      return kExitDone;
    }
    for (const node::v1::Entry& entry : found.entries()) {
      if (&entry != &found.entries(0)) call.streams.out << "\n";
      PrintEntry(call.streams.out, entry);
    }
    return kExitDone;
  });
}

constexpr Flag kFlags[] = {kRootFlag};

}  // namespace

extern const Verb kDescribeVerb;
const Verb kDescribeVerb = {
    .name = "describe",
    .usage = "KEY",
    .summary = "everything about the entries of a key",
    .help =
        "Prints every entry that a node has under KEY (64 hex digits): one, or one for each root\n"
        "that has it. Exit code 3: there is none.\n"
        "RPC: cairn.node.v1.NodeAdmin.Describe",
    .args_min = 1,
    .args_max = 1,
    .flags = kFlags,
    .asks = Asks::kNode,
    .run = RunDescribe,
};

}  // namespace cairn
