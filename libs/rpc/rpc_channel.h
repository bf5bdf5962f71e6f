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

struct RpcChannelOptions {
  std::string address;  // "host:port"; in dev mode a numeric loopback host
  RpcSecurity security;
};

// A channel to one server, which connects when it is first used. Proxies of the environment are not
// asked. INVALID_ARGUMENT: dev mode and an address that is not loopback.
absl::StatusOr<std::shared_ptr<grpc::Channel>> NewRpcChannel(const RpcChannelOptions& options);

// Every call has a deadline. Past it the call ends with DEADLINE_EXCEEDED.
void SetDeadline(grpc::ClientContext& context, absl::Duration timeout);

}  // namespace cairn
#endif  // CAIRN_LIBS_RPC_RPC_CHANNEL_H_
