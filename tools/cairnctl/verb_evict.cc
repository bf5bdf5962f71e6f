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

ExitCode RunEvict(const Invocation& call) {
  return AskNode(call, kLongTimeoutDefault, [&](NodeClient& node) -> absl::StatusOr<ExitCode> {
    node::v1::EvictRequest request;
    CAIRN_ASSIGN_OR_RETURN(*request.mutable_what(), EntryChoiceOf(call));
    CAIRN_RETURN_IF_ERROR(
        Confirm(call, absl::StrCat("The node at ", node.endpoint(), " will drop ",
                                   Describe(request.what()), ", but for those in use now.")));
    CAIRN_ASSIGN_OR_RETURN(const node::v1::EvictResponse report, node.Evict(request));
    if (call.output == OutputForm::kJson) {
      PrintJson(call.streams.out, JsonOf(report));
    } else {
      call.streams.out << "evicted " << report.evicted() << ", held " << report.held()
                       << " (in use, left alone), missing " << report.missing() << "\n";
    }
    const bool is_nothing_there = report.evicted() == 0 && report.held() == 0;
    return is_nothing_there && report.missing() > 0 ? kExitNotFound : kExitDone;
  });
}

constexpr Flag kFlags[] = {kRootFlag, kAllFlag, kYesFlag};

}  // namespace

extern const Verb kEvictVerb;
const Verb kEvictVerb = {
    .name = "evict",
    .usage = "KEY...|--all",
    .summary = "drop entries",
    .help =
        "Has a node drop entries; those in use now are left alone and counted. No answer changes:\n"
        "what is gone is computed again. Asks first on a terminal; elsewhere it needs --yes.\n"
        "Exit code 3: none of the keys is there.\n"
        "RPC: cairn.node.v1.NodeAdmin.Evict (audited)",
    .args_max = 16384,
    .flags = kFlags,
    .asks = Asks::kNode,
    .run = RunEvict,
};

}  // namespace cairn
