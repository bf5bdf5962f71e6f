#ifndef CAIRN_TOOLS_BENCH_STARTED_NODE_H_
#define CAIRN_TOOLS_BENCH_STARTED_NODE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "libs/termination/termination.h"
#include "tools/bench/child_process.h"

namespace cairn::bench {

// StartedNode is a real cairn-node of ours, in dev mode, with its run folder in a scratch folder.
class StartedNode {
 public:
  struct Options {
    std::uint64_t arena_bytes = 0;
    std::uint64_t segment_bytes = 0;
    bool serves_peers = false;  // listens for UCX over tcp on loopback, any free port
  };
  // Returns when it serves; the error has the node's own words. CANCELLED: a signal came first.
  static absl::StatusOr<std::unique_ptr<StartedNode>> Start(const ScratchFolder& folder,
                                                            const Options& options,
                                                            Termination& termination);
  pid_t pid() const { return process_->pid(); }
  const std::string& run_dir() const { return run_dir_; }
  const std::string& peer_address() const { return peer_address_; }  // empty: serves no peers

 private:
  StartedNode(std::unique_ptr<ChildProcess> process, std::string run_dir)
      : process_(std::move(process)), run_dir_(std::move(run_dir)) {}

  const std::unique_ptr<ChildProcess> process_;
  const std::string run_dir_;
  std::string peer_address_;
};

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_STARTED_NODE_H_
