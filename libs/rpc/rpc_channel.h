#ifndef CAIRN_LIBS_RPC_RPC_CHANNEL_H_
#define CAIRN_LIBS_RPC_RPC_CHANNEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "libs/rpc/rpc_security.h"

namespace grpc {
class Channel;
class ClientContext;
}  // namespace grpc

namespace cairn {

// A server that is called, "host:port". With TLS a name will do: the certificate says who answers.
// In dev mode only a numeric loopback host: where a call goes must not depend on a resolver.
// INVALID_ARGUMENT saying what an address looks like.
absl::Status CheckServerAddress(const std::string& address, bool is_dev_mode);

struct RpcChannelOptions {
  std::string address;
  RpcSecurity security;
};

// A channel to one server, which connects when it is first used. Proxies of the environment are not
// asked. INVALID_ARGUMENT: as CheckServerAddress.
absl::StatusOr<std::shared_ptr<grpc::Channel>> NewRpcChannel(const RpcChannelOptions& options);

// Every call has a deadline. Past it the call ends with DEADLINE_EXCEEDED.
void SetDeadline(grpc::ClientContext& context, absl::Duration timeout);

// Helps a channel that has lost its server to find it again, for `most`; true if it is connected.
// gRPC connects while somebody polls. A call on a channel that failed to connect fails at once and
// hardly polls, and gRPC's own look every 5 s is too seldom for a handshake: without help, whoever
// calls seldom may never be connected again. Blocks.
bool HelpConnect(grpc::Channel& channel, absl::Duration most);

}  // namespace cairn
#endif  // CAIRN_LIBS_RPC_RPC_CHANNEL_H_
