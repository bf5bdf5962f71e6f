#include "libs/rpc/rpc_server.h"

#include <arpa/inet.h>
#include <grpc/grpc_security_constants.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/health_service.h"
#include "libs/rpc/host_port.h"

namespace cairn {
namespace {

// gRPC says only that a port could not be had: binds it once more to learn why.
std::string WhyNotBound(const HostPort& address) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (address.is_ipv6()) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    ::inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr);
    size = sizeof v6;
  } else {
    auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    ::inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr);
    size = sizeof v4;
  }
  const int fd = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::strerror(errno);
  const int one = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  std::string why = "gRPC refused the certificate or the address";
  if (::bind(fd, reinterpret_cast<sockaddr*>(&storage), size) != 0 || ::listen(fd, 1) != 0) {
    why = errno == EADDRINUSE ? "another process listens there" : std::strerror(errno);
  }
  ::close(fd);
  return why;
}

std::shared_ptr<grpc::ServerCredentials> CredentialsOf(const RpcSecurity& security) {
  if (security.is_dev_mode) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = security.ca;
  options.pem_key_cert_pairs.push_back({security.key, security.certificate});
  return grpc::SslServerCredentials(options);
}

void LogForRpc(gpr_log_func_args* line) {
  if (line->severity < GPR_LOG_SEVERITY_ERROR) {
    LogEvent(LogLevel::kDebug, "grpc_logged").With("text", line->message);
    return;
  }
  static LogLimiter limiter(absl::Seconds(1));
  if (std::uint64_t held_back = 0; limiter.Admit(&held_back)) {
    LogEvent(LogLevel::kWarning, "grpc_logged")
        .With("text", line->message)
        .With("held_back", held_back);
  }
}

// Threads started meanwhile inherit a coarse timer slack. gRPC has two threads that each look up
// once a second, whether there is a timer or not, and in a process that sleeps one such wake-up
// costs 30 to 80 us: more than all else that an idle node does. With this slack the kernel lets
// them wake together, with something else, or seldomer. gRPC's timers (handshakes, keep-alive) may
// be that late, and deadlines of calls that such a process makes itself (a node's to
// cairn-placement, where nobody waits).
class CoarseTimers {
 public:
  CoarseTimers() : before_ns_(::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) { Set(2'000'000'000); }
  ~CoarseTimers() { Set(before_ns_ > 0 ? static_cast<unsigned long>(before_ns_) : 0); }
  CoarseTimers(const CoarseTimers&) = delete;
  CoarseTimers& operator=(const CoarseTimers&) = delete;

 private:
  static void Set(unsigned long ns) { ::prctl(PR_SET_TIMERSLACK, ns, 0, 0, 0); }
  const int before_ns_;
};

}  // namespace

struct RpcServer::State {
  HealthService health;
  std::unique_ptr<grpc::Server> server;
  bool is_shut_down = false;
};

absl::Status CheckListenAddress(const std::string& address, bool is_dev_mode) {
  CAIRN_ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
  if (!is_dev_mode || parsed.is_loopback()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(address,
                   " is not loopback, and without TLS nothing else is served: use "
                   "127.0.0.1, or configure security.tls"));
}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(const Options& options) {
  CAIRN_RETURN_IF_ERROR(CheckListenAddress(options.listen, options.security.is_dev_mode));
  CAIRN_ASSIGN_OR_RETURN(HostPort address, ParseHostPort(options.listen));
  const CoarseTimers for_grpc;
  grpc::EnableDefaultHealthCheckService(false);  // ours is synchronous
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(options.listen, CredentialsOf(options.security), &port);
  auto state = std::make_unique<State>();
  builder.RegisterService(state->health.service());
  for (grpc::Service* service : options.services) builder.RegisterService(service);
  builder.SetResourceQuota(grpc::ResourceQuota("rpc_server").SetMaxThreads(limits::kRpcThreadsMax));
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits::kRpcMessageBytesMax));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two servers must not share a port
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(limits::kRpcStreamsMax));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 1);
  // How often an idle poller looks up, for nothing.
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::CQ_TIMEOUT_MSEC, 60'000);
  state->server = builder.BuildAndStart();
  if (state->server == nullptr || port <= 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", options.listen, ": ", WhyNotBound(address)));
  }
  address.port = static_cast<std::uint16_t>(port);
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(state), address.ToString()));
}

RpcServer::RpcServer(std::unique_ptr<State> state, std::string address)
    : state_(std::move(state)), address_(std::move(address)) {}

RpcServer::~RpcServer() { Shutdown(absl::ZeroDuration()); }

void RpcServer::SetReady(bool is_ready) { state_->health.SetReady(is_ready); }

void RpcServer::Shutdown(absl::Duration grace) {
  if (std::exchange(state_->is_shut_down, true)) return;
  state_->server->Shutdown(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(grace));
  state_->server->Wait();
}

RpcPeer PeerOf(const grpc::ServerContext& context) {
  RpcPeer peer;
  peer.address = context.peer();
  const auto auth = context.auth_context();
  if (auth == nullptr || !auth->IsPeerAuthenticated()) return peer;
  peer.is_verified = true;
  const auto names = auth->FindPropertyValues(GRPC_X509_CN_PROPERTY_NAME);
  if (!names.empty()) peer.name.assign(names.front().data(), names.front().size());
  return peer;
}

void RouteRpcLogs() { gpr_set_log_function(LogForRpc); }

}  // namespace cairn
