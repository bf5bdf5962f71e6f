#include "tools/bench/started_node.h"

#include <fstream>
#include <iostream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "tools/bench/meter.h"
#include "tools/cairnctl/node_client.h"

namespace cairn::bench {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(5);

absl::Status WaitStarted(ChildProcess& process, Termination& termination) {
  for (const double end = NowSeconds() + absl::ToDoubleSeconds(kPatience); NowSeconds() < end;) {
    const std::string log = process.Log();
    if (absl::StrContains(log, " node_started ")) return absl::OkStatus();
    if (!process.IsRunning()) {
      return absl::UnavailableError(absl::StrCat("cairn-node did not start:\n", log));
    }
    if (termination.Wait(kLook) == Termination::Event::kSignal) {
      return absl::CancelledError("interrupted");
    }
  }
  return absl::DeadlineExceededError(absl::StrCat("cairn-node does not start:\n", process.Log()));
}

// Which port it got is in its Status only.
absl::StatusOr<std::string> PeerAddressOf(const std::string& run_dir) {
  const Invocation call{.verb = "status",
                        .streams = {.in = std::cin, .out = std::cout, .err = std::cerr},
                        .flags = {{"run-dir", run_dir}}};
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<NodeClient> node,
                         NodeClient::Of(call, kTimeoutDefault));
  CAIRN_ASSIGN_OR_RETURN(const node::v1::StatusResponse status, node->Status());
  return status.remote_address();
}

}  // namespace

absl::StatusOr<std::unique_ptr<StartedNode>> StartedNode::Start(const ScratchFolder& folder,
                                                                const Options& options,
                                                                Termination& termination) {
  const std::string run_dir = folder.PathOf("node");
  const std::string config = folder.PathOf("node.yaml");
  std::ofstream(config) << "run_dir: " << run_dir << "\n"
                        << "security:\n  dev_mode_without_tls: true\n"
                        << "arena:\n  bytes: " << options.arena_bytes
                        << "\n  segment_bytes: " << options.segment_bytes << "\n"
                        << (options.serves_peers ? "peers:\n  listen: \"127.0.0.1:0\"\n" : "");
  CAIRN_ASSIGN_OR_RETURN(
      std::unique_ptr<ChildProcess> process,
      ChildProcess::Start({.command = {ProgramFolder() + "/cairn-node", "--config", config},
                           .log_file = folder.PathOf("node.log")}));
  CAIRN_RETURN_IF_ERROR(WaitStarted(*process, termination));
  std::unique_ptr<StartedNode> node(new StartedNode(std::move(process), run_dir));
  if (options.serves_peers) {
    CAIRN_ASSIGN_OR_RETURN(node->peer_address_, PeerAddressOf(run_dir));
  }
  return node;
}

}  // namespace cairn::bench
