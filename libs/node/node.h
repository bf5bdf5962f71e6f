#ifndef CAIRN_LIBS_NODE_NODE_H_
#define CAIRN_LIBS_NODE_NODE_H_

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/node/admin.h"
#include "libs/node/arena.h"
#include "libs/node/front.h"
#include "libs/node/options.h"
#include "libs/node/ports.h"

namespace cairn {

// Node is the daemon's role: a cache node on ports, the same in production and in simulation.
//
//   LocalListener ─┐                        ┌─ Shard (its loop) ─ HostTier ─ slots of the Arena
//   Transports ────┴─ Front (transport loop)┼─ Shard …
//   NodeAdmin ──────────┘                   └─ Shard …
//
// Invariants: those of its parts; the promises of services/ARCHITECTURE.md are theirs together.
// Ownership: all of its state; the ports are the caller's.
// Threads:   Create and Start before the loops run, or on the transport loop. Stop on the transport
//            loop. Destruction when no loop runs a task of it any more: after Stop's `done` has
//            returned, or when its loops have stopped for good.
class Node {
 public:
  // Makes the arena, which takes a while: every page is populated. INVALID_ARGUMENT for options,
  // RESOURCE_EXHAUSTED for memory.
  static absl::StatusOr<std::unique_ptr<Node>> Create(const NodeOptions& options, NodePorts ports);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Begins to accept peers.
  absl::Status Start();
  // A gate: refuses what is new, ends the sessions, waits for what moves, closes the transports,
  // then calls `done`. Clients go on without the cache; they keep their mappings of the arena.
  void Stop(absl::AnyInvocable<void()> done);

  NodeAdmin& admin() { return admin_; }
  // For tests that look inside between steps of a simulation.
  const Front& front() const { return front_; }

 private:
  Node(const NodeOptions& options, NodePorts ports, std::unique_ptr<Arena> arena);

  const NodeOptions options_;
  NodePorts ports_;
  const std::unique_ptr<Arena> arena_;
  Front front_;
  NodeAdmin admin_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_NODE_H_
