#ifndef CAIRN_SERVICES_NODE_NODE_PROCESS_H_
#define CAIRN_SERVICES_NODE_NODE_PROCESS_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "libs/copier_threads/thread_copier.h"
#include "libs/loop_asio/asio_loop.h"
#include "libs/memory_memfd/memfd_memory.h"
#include "libs/node/node.h"
#include "libs/placement_rpc/overlap_sender.h"
#include "libs/rpc/rpc_server.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "services/node/admin_service.h"
#include "services/node/node_settings.h"
#include "services/node/run_folder.h"

namespace cairn {

// NodeProcess puts a node on real adapters:
//
//   gRPC ─ AdminService ─► Node ─ transport loop ─ UCX, node.sock
//                            └─ shard loops (the transport loop, with one shard) ─ copy threads
//                            each
//
// Serve first: gRPC answers (health: not ready) while Run takes and populates the arena.
// Threads: the main one.
class NodeProcess {
 public:
  // Takes the run folder and the gRPC address; writes `token` and `grpc`.
  static absl::StatusOr<std::unique_ptr<NodeProcess>> Serve(const NodeSettings& settings);
  ~NodeProcess();  // stops whatever runs
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  // Makes the node and lets it run. RESOURCE_EXHAUSTED: memory is short; may be called again.
  absl::Status Run();
  // Refuses what is new and waits for what moves; `done` comes from the node's loop. After Run.
  void Drain(absl::AnyInvocable<void()> done);

 private:
  NodeProcess(const NodeSettings& settings, std::unique_ptr<RunFolder> folder);
  absl::StatusOr<NodePorts> MakePorts();
  absl::StatusOr<std::unique_ptr<Transport>> MakeTransport(LaneKind kind,
                                                           TransportReceiver& receiver);
  AdapterStats Adapters() const;  // the transport loop
  void StopLoops();

  NodeSettings settings_;
  const std::unique_ptr<RunFolder> folder_;
  AdminService admin_service_;
  std::unique_ptr<RpcServer> server_;
  MemfdMemorySource memory_{MemfdMemorySource::Options{}};
  std::shared_ptr<grpc::Channel> placement_;  // null: nobody is told where prompts part
  // Each outlives what stands below it. Loops first: copiers and node end when they have stopped.
  std::unique_ptr<AsioLoop> loop_;
  std::vector<std::unique_ptr<AsioLoop>> shard_loops_;  // empty with one shard
  std::vector<std::unique_ptr<ThreadCopier>> copiers_;
  std::unique_ptr<OverlapSender> overlaps_;  // null without placement_
  std::unique_ptr<Node> node_;
  // By LaneKind, owned by the node, which answers Status only while they live. The transport loop.
  std::array<const UcxTransport*, kLaneKinds> transports_{};
};

}  // namespace cairn
#endif  // CAIRN_SERVICES_NODE_NODE_PROCESS_H_
