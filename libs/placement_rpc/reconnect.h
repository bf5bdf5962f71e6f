#ifndef CAIRN_LIBS_PLACEMENT_RPC_RECONNECT_H_
#define CAIRN_LIBS_PLACEMENT_RPC_RECONNECT_H_

#include "absl/time/time.h"

namespace grpc {
class Channel;
}

namespace cairn {

// For a thread that calls a service now and then and whose last call failed: helps the channel to
// find the service again, for `most`. True if it is connected.
// gRPC connects while somebody polls. A call on a channel that failed to connect fails at once and
// hardly polls, and gRPC's own look every 5 s is too seldom for a handshake: without help, whoever
// calls seldom may never be connected again. Blocks.
bool Reconnect(grpc::Channel& channel, absl::Duration most);

}  // namespace cairn
#endif  // CAIRN_LIBS_PLACEMENT_RPC_RECONNECT_H_
