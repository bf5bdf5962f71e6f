#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "tools/cairnctl/entry_choice.h"
#include "tools/cairnctl/json_text.h"
#include "tools/cairnctl/message_json.h"
#include "tools/cairnctl/node_client.h"
#include "tools/cairnctl/verb.h"

namespace cairn {
namespace {

constexpr std::uint32_t kLimitDefault = 100;
constexpr std::uint32_t kListedMax = 1'000'000;  // what is kept here before it is printed
constexpr std::uint32_t kAtOnceMax = 1000;       // what the node answers at once

absl::StatusOr<std::uint32_t> LimitOf(const Invocation& call) {
  const auto it = call.flags.find("limit");
  if (it == call.flags.end()) return kLimitDefault;
  std::uint32_t limit = 0;
  if (!absl::SimpleAtoi(it->second, &limit) || limit == 0 || limit > kListedMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--limit is from 1 to ", kListedMax, ", not \"", it->second, "\""));
  }
  return limit;
}

absl::StatusOr<node::v1::ListResponse> ListUpTo(const Invocation& call, NodeClient& node) {
  CAIRN_ASSIGN_OR_RETURN(const std::uint32_t limit, LimitOf(call));
  node::v1::ListRequest request;
  CAIRN_RETURN_IF_ERROR(SetRoot(call, request.mutable_root()));
  if (const auto it = call.flags.find("cursor"); it != call.flags.end()) {
    request.set_cursor(it->second);
  }
  node::v1::ListResponse all;
  do {
    const auto left = limit - static_cast<std::uint32_t>(all.entries_size());
    request.set_limit(std::min(left, kAtOnceMax));
    CAIRN_ASSIGN_OR_RETURN(const node::v1::ListResponse some, node.List(request));
    all.mutable_entries()->MergeFrom(some.entries());
    all.set_next_cursor(some.next_cursor());
    request.set_cursor(some.next_cursor());
  } while (!all.next_cursor().empty() && static_cast<std::uint32_t>(all.entries_size()) < limit);
  return all;
}

ExitCode RunLs(const Invocation& call) {
  return AskNode(call, kTimeoutDefault, [&](NodeClient& node) -> absl::StatusOr<ExitCode> {
    CAIRN_ASSIGN_OR_RETURN(const node::v1::ListResponse list, ListUpTo(call, node));
    if (call.output == OutputForm::kJson) {
      PrintJson(call.streams.out, JsonOf(list));
      return kExitDone;
    }
    PrintEntries(call.streams.out,
                 std::vector<const node::v1::Entry*>(list.entries().pointer_begin(),
                                                     list.entries().pointer_end()));
    if (!list.next_cursor().empty()) {
      call.streams.err << "cairnctl ls: there are more: --limit=N, or --cursor="
                       << list.next_cursor() << "\n";
    }
    return kExitDone;
  });
}

constexpr Flag kFlags[] = {
    kRootFlag,
    {"limit", "N", "how many at most (default: 100)"},
    {"cursor", "TEXT", "go on where another ls ended"},
};

}  // namespace

extern const Verb kLsVerb;
const Verb kLsVerb = {
    .name = "ls",
    .usage = "",
    .summary = "list a node's entries",
    .help =
        "Lists entries, 100 unless --limit says otherwise, in an order that holds while they "
        "stay.\n"
        "RPC: cairn.node.v1.NodeAdmin.List",
    .flags = kFlags,
    .asks = Asks::kNode,
    .run = RunLs,
};

}  // namespace cairn
