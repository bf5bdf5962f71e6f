#include <string>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "tools/cairnctl/entry_choice.h"
#include "tools/cairnctl/json_text.h"
#include "tools/cairnctl/message_json.h"
#include "tools/cairnctl/node_client.h"
#include "tools/cairnctl/verb.h"

namespace cairn {
namespace {

ExitCode RunVerify(const Invocation& call) {
  return AskNode(call, kLongTimeoutDefault, [&](NodeClient& node) -> absl::StatusOr<ExitCode> {
    node::v1::VerifyRequest request;
    CAIRN_ASSIGN_OR_RETURN(*request.mutable_what(), EntryChoiceOf(call));
    CAIRN_RETURN_IF_ERROR(Confirm(
        call, absl::StrCat("The node at ", node.endpoint(), " will hash ", Describe(request.what()),
                           " again; what is damaged is quarantined (a miss from then on).")));
    CAIRN_ASSIGN_OR_RETURN(const node::v1::VerifyResponse report, node.Verify(request));
    if (call.output == OutputForm::kJson) {
      PrintJson(call.streams.out, JsonOf(report));
    } else {
      call.streams.out << "checked " << report.checked() << ", bad " << report.bad() << ", missing "
                       << report.missing() << ", skipped " << report.skipped() << "\n";
    }
    if (report.bad() > 0) {
      call.streams.err
          << "cairnctl verify: " << report.bad()
          << " entries were damaged and are quarantined: look at the machine's memory\n";
      return kExitFailed;
    }
    return report.checked() == 0 && report.missing() > 0 ? kExitNotFound : kExitDone;
  });
}

constexpr Flag kFlags[] = {kRootFlag, kAllFlag, kYesFlag};

}  // namespace

extern const Verb kVerifyVerb;
const Verb kVerifyVerb = {
    .name = "verify",
    .usage = "KEY...|--all",
    .summary = "hash entries again where they lie",
    .help =
        "Has a node hash entries again, in its arena. A damaged one is quarantined: a miss from\n"
        "then on. Asks first on a terminal; elsewhere it needs --yes. Exit code 1: some were\n"
        "damaged; 3: none of the keys is there.\n"
        "RPC: cairn.node.v1.NodeAdmin.Verify (audited)",
    .args_max = 16384,
    .flags = kFlags,
    .asks = Asks::kNode,
    .run = RunVerify,
};

}  // namespace cairn
