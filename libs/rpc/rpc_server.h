#ifndef CAIRN_LIBS_RPC_RPC_SERVER_H_
#define CAIRN_LIBS_RPC_RPC_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "libs/rpc/rpc_security.h"

namespace grpc {
class ServerContext;
class Service;
}  // namespace grpc

namespace cairn {

// RpcServer is one gRPC server on one address: services, health and reflection.
//
// Security: mTLS, a client without a certificate that our CA signed gets no connection; or dev
// mode,
//           and then loopback only.
// Health:   grpc.health.v1 Check with the names "" and "liveness" (serving while the process runs)
//           and "readiness" (SetReady). Watch is not there.
// Limits:   messages of limits::kRpcMessageBytesMax, limits::kRpcStreamsMax calls a connection,
//           limits::kRpcThreadsMax threads; more calls get RESOURCE_EXHAUSTED.
// Threads:  gRPC's own, one of which waits for calls. Services are synchronous: gRPC 1.51's
// callback
//           API keeps a poller for every second core that wakes twice a second [measured: 12 ms of
//           CPU a minute on two cores], and idle nodes shall sleep. Start, SetReady and Shutdown:
//           any one thread.
class RpcServer {
 public:
  struct Options {
    std::string listen;  // Required: "host:port", numeric host; port 0 picks one.
    RpcSecurity security;
    std::vector<grpc::Service*> services;  // outlive the server
  };
  // INVALID_ARGUMENT for an address that dev mode may not have, or that is none; UNAVAILABLE, with
  // the address and why, if it cannot be bound.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(const Options& options);
  ~RpcServer();  // Shutdown without grace
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  const std::string& address() const { return address_; }  // as bound: "127.0.0.1:41571"
  void SetReady(bool is_ready);                            // "readiness"; false at first
  // No new calls; those under way have `grace` to end, then they are cancelled. Blocks until every
  // call's reactor has finished.
  void Shutdown(absl::Duration grace);

 private:
  struct State;
  RpcServer(std::unique_ptr<State> state, std::string address);

  const std::unique_ptr<State> state_;
  const std::string address_;
};

// Checks an address that is to be listened on or, in dev mode, spoken to.
absl::Status CheckListenAddress(const std::string& address, bool is_dev_mode);

// Who calls, for authorisation and audit lines.
struct RpcPeer {
  bool is_verified = false;  // showed a certificate that our CA signed
  std::string name;          // its common name; empty without one
  std::string address;       // "ipv4:127.0.0.1:41572"
};
RpcPeer PeerOf(const grpc::ServerContext& context);

// gRPC's own log lines go to LogEvent from now on, errors as warnings (a few a second at most).
void RouteRpcLogs();

}  // namespace cairn
#endif  // CAIRN_LIBS_RPC_RPC_SERVER_H_
