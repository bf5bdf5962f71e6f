#ifndef CAIRN_LIBS_NODE_NODE_SESSION_H_
#define CAIRN_LIBS_NODE_NODE_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>

#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/node/lanes.h"
#include "libs/ports/local_channel.h"
#include "libs/ports/memory.h"

namespace cairn {

// A session is the endpoint on which HELLO succeeded, with the one root that it may see. What the
// read and write paths keep for it stands with them.
//
// Its record outlives its end: until the endpoint's last call and until every shard has answered
// EndSession, since copies may still read the pool.
struct NodeSession {
  SessionId id;
  Peer peer;
  PeerProcess process;
  bool is_same_host = false;
  std::unique_ptr<PeerMemory> pool;  // null: it sends DATA for what it offers
  RootId root_id;
  Root root;
  std::uint32_t block_tokens = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t state_bytes = 0;  // of its first state on offer; 0: none yet
  bool is_any_numerics = false;   // producers may differ in bits, and know it
  std::string producer;
  ProducerId producer_id;
  Instant since;

  bool is_ending = false;
  bool is_endpoint_closed = false;
  std::uint32_t shards_left = 0;  // that have not answered EndSession
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_NODE_SESSION_H_
