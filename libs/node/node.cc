#include "libs/node/node.h"

#include <utility>

#include "libs/base/check.h"
#include "libs/base/status_macros.h"

namespace cairn {

absl::StatusOr<std::unique_ptr<Node>> Node::Create(const NodeOptions& options, NodePorts ports) {
  CAIRN_RETURN_IF_ERROR(Validate(options));
  CAIRN_CHECK(ports.shards.size() == options.shards) << ports.shards.size();
  CAIRN_ASSIGN_OR_RETURN(
      std::unique_ptr<Arena> arena,
      Arena::Create({.arena_bytes = options.arena_bytes, .segment_bytes = options.segment_bytes},
                    ports.memory));
  return std::unique_ptr<Node>(new Node(options, std::move(ports), std::move(arena)));
}

Node::Node(const NodeOptions& options, NodePorts ports, std::unique_ptr<Arena> arena)
    : options_(options),
      ports_(std::move(ports)),
      arena_(std::move(arena)),
      front_({options_, ports_, *arena_}),
      admin_({options_, *arena_, ports_.loop, front_}) {}

Node::~Node() = default;

absl::Status Node::Start() { return front_.Start(); }

void Node::Stop(absl::AnyInvocable<void()> done) {
  admin_.Stop([this, done = std::move(done)]() mutable { front_.Stop(std::move(done)); });
}

}  // namespace cairn
