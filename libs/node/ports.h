#ifndef CAIRN_LIBS_NODE_PORTS_H_
#define CAIRN_LIBS_NODE_PORTS_H_

#include <memory>
#include <vector>

#include "libs/node/lanes.h"
#include "libs/ports/copier.h"
#include "libs/ports/local_channel.h"
#include "libs/ports/loop.h"
#include "libs/ports/memory.h"
#include "libs/ports/overlap_sink.h"

namespace cairn {

// What a shard lives on. The copier was made for this loop.
struct ShardPorts {
  Loop& loop;
  Copier& copier;
};

// What a node lives on; everything referred to outlives it.
struct NodePorts {
  Loop& loop;  // the transport loop: sessions and messages
  MemorySource& memory;
  std::vector<ShardPorts> shards;  // one per shard; with one shard usually the transport loop
  std::unique_ptr<LocalListener> local_listener;  // null: no peers on this host
  TransportMaker make_transport;                  // called on the transport loop
  OverlapSink* overlaps = nullptr;  // null: nobody learns where prompts part. Outlives the node
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_PORTS_H_
