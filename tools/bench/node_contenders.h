#ifndef CAIRN_TOOLS_BENCH_NODE_CONTENDERS_H_
#define CAIRN_TOOLS_BENCH_NODE_CONTENDERS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "libs/loop_asio/asio_loop.h"
#include "libs/ports/memory.h"
#include "libs/termination/termination.h"
#include "tools/bench/bench_client.h"
#include "tools/bench/child_process.h"
#include "tools/bench/contender.h"
#include "tools/bench/started_node.h"

namespace cairn::bench {

// NodeSite is one cairn-node at a time, new for every block size (so that no run begins with
// another one's entries to evict), with two sessions of this process: one of this host, one over
// tcp as peers have it. The node holds all of `source` under KeyOf(block number) when Prepare
// returns.
class NodeSite {
 public:
  struct Needs {
    const ScratchFolder& folder;
    AsioLoop& loop;
    MemorySource& memory;
    OwnedMemory& pool;  // Buffers::source lies in it
    Buffers buffers;
    Termination& termination;
  };
  explicit NodeSite(const Needs& needs) : needs_(needs) {}

  absl::Status Prepare(std::uint64_t bytes);
  const Needs& needs() const { return needs_; }
  pid_t pid() const { return node_->pid(); }
  BenchClient& local() { return *local_; }
  BenchClient& remote() { return *remote_; }
  const std::vector<Key>& keys() const { return keys_; }
  Checksum ChecksumAt(std::uint64_t number) const { return checksums_[number % checksums_.size()]; }
  // A block that the node has never seen: the bytes of block `number`, under a key of its own.
  OfferBlock NewBlock(std::uint64_t number);

 private:
  const Needs needs_;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<StartedNode> node_;
  std::unique_ptr<BenchClient> local_;
  std::unique_ptr<BenchClient> remote_;
  std::vector<Key> keys_;
  std::vector<Checksum> checksums_;  // of the blocks of `source`, in order
  std::uint64_t keys_made_ = 1ULL << 32;
};

// The real node and the real client over tcp: a get is one PULL of one entry, with its checksum
// verified by the client; a put is one OFFER of one entry, answered STORED.
std::unique_ptr<Contender> NewNodeOverTcp(NodeSite& site);

// The real node and the real client on one host.
//   get: copies of pinned blocks out of the mapped arena, and after each `window` of them the check
//        that their slots are unchanged. The ACQUIRE that pinned them is `cairn-bench acquire`'s.
//   put: OFFERs of blocks in this process's pool, copied and summed by the node, answered STORED
std::unique_ptr<Contender> NewNodeOnHost(NodeSite& site);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_NODE_CONTENDERS_H_
