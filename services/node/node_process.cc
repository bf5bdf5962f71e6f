#include "services/node/node_process.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/log.h"
#include "libs/base/sha256.h"
#include "libs/base/status_macros.h"
#include "libs/local_socket/local_socket.h"
#include "libs/rpc/host_port.h"
#include "libs/rpc/rpc_channel.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "services/node/counters.h"
#include "services/node/memory_check.h"

namespace cairn {
namespace {

constexpr char kSocket[] = "node.sock";

// The network device that has an address of ours: UCX is told devices, not addresses.
absl::StatusOr<std::string> DeviceOf(const std::string& address) {
  CAIRN_ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return absl::UnavailableError("cannot list network devices");
  std::string device;
  for (const ifaddrs* one = all; one != nullptr && device.empty(); one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN];
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text) == nullptr) continue;
    if (parsed.host == text) device = one->ifa_name;
  }
  ::freeifaddrs(all);
  if (!device.empty()) return device;
  return absl::InvalidArgumentError(absl::StrCat(
      "peers.listen: no network device of this machine has the address ", parsed.host));
}

absl::StatusOr<std::unique_ptr<UcxTransport>> NewTransport(AsioLoop& loop, LaneKind kind,
                                                           const std::string& remote_listen,
                                                           TransportReceiver& receiver) {
  UcxOptions options;
  switch (kind) {
    case LaneKind::kSameUser:
      options.profile = UcxProfile::kSameHost;
      break;
    case LaneKind::kOtherUser:
      options.profile = UcxProfile::kSameHostOtherUser;
      LogEvent(LogLevel::kInfo, "lane_opened")
          .With("lane", "other_user")
          .With("why", "shared memory does not connect users: messages go over tcp on lo");
      break;
    case LaneKind::kRemote: {
      options.profile = UcxProfile::kPeers;
      CAIRN_ASSIGN_OR_RETURN(options.device, DeviceOf(remote_listen));
      break;
    }
  }
  return UcxTransport::Create(loop, receiver, options);
}

int UcxWorkersOf(const NodeOptions& options) {
  return 1 + (options.serves_other_users ? 1 : 0) + (options.remote_listen.empty() ? 0 : 1);
}

}  // namespace

NodeProcess::NodeProcess(const NodeSettings& settings, std::unique_ptr<RunFolder> folder)
    : settings_(settings),
      folder_(std::move(folder)),
      admin_service_({.is_dev_mode = settings.security.is_dev_mode,
                      .adapters = [this] { return Adapters(); }}) {}

absl::StatusOr<std::unique_ptr<NodeProcess>> NodeProcess::Serve(const NodeSettings& settings) {
  CAIRN_RETURN_IF_ERROR(CheckShm(UcxWorkersOf(settings.options)));
  CAIRN_ASSIGN_OR_RETURN(
      std::unique_ptr<RunFolder> folder,
      RunFolder::Open(
          {.path = settings.run_dir, .is_entered_by_all = settings.options.serves_other_users}));
  std::unique_ptr<NodeProcess> process(new NodeProcess(settings, std::move(folder)));
  CAIRN_ASSIGN_OR_RETURN(process->server_,
                         RpcServer::Start({.listen = settings.grpc_listen,
                                           .security = settings.security,
                                           .services = {process->admin_service_.service()}}));
  CAIRN_RETURN_IF_ERROR(process->folder_->Write(
      "grpc", absl::StrCat(process->server_->address(), "\n"), RunFolder::Readers::kAll));
  if (settings.security.is_dev_mode) {
    process->settings_.options.dev_token = RandomBytes(kTokenSecretBytes);
    CAIRN_RETURN_IF_ERROR(process->folder_->Write("token", process->settings_.options.dev_token,
                                                  RunFolder::Readers::kOwner));
  }
  return process;
}

absl::StatusOr<NodePorts> NodeProcess::MakePorts() {
  if (!settings_.placement_grpc.empty() && placement_ == nullptr) {
    CAIRN_ASSIGN_OR_RETURN(placement_, NewRpcChannel({.address = settings_.placement_grpc,
                                                      .security = settings_.placement_security}));
  }
  loop_ = std::make_unique<AsioLoop>();
  const std::uint32_t shards = settings_.options.shards;
  const int threads = std::max(1, settings_.copy_threads / static_cast<int>(shards));
  NodePorts ports{.loop = *loop_,
                  .memory = memory_,
                  .shards = {},
                  .local_listener = nullptr,
                  .make_transport = {}};
  if (placement_ != nullptr) {
    overlaps_ = std::make_unique<OverlapSender>(
        OverlapSender::Options{.timeout = settings_.placement_timeout}, *loop_, placement_);
    ports.overlaps = overlaps_.get();
  }
  for (std::uint32_t i = 0; i < shards; ++i) {
    if (shards > 1) shard_loops_.push_back(std::make_unique<AsioLoop>());
    AsioLoop& loop = shards > 1 ? *shard_loops_.back() : *loop_;
    copiers_.push_back(
        std::make_unique<ThreadCopier>(loop, ThreadCopier::Options{.threads = threads}));
    ports.shards.push_back({loop, *copiers_.back()});
  }
  ports.local_listener = NewSocketListener(
      *loop_,
      {.path = folder_->PathOf(kSocket), .serves_all_uids = settings_.options.serves_other_users});
  ports.make_transport = [this](LaneKind kind, TransportReceiver& receiver) {
    return MakeTransport(kind, receiver);
  };
  return ports;
}

absl::StatusOr<std::unique_ptr<Transport>> NodeProcess::MakeTransport(LaneKind kind,
                                                                      TransportReceiver& receiver) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<UcxTransport> made,
                         NewTransport(*loop_, kind, settings_.options.remote_listen, receiver));
  transports_[static_cast<std::size_t>(kind)] = made.get();
  return std::unique_ptr<Transport>(std::move(made));
}

AdapterStats NodeProcess::Adapters() const {
  AdapterStats stats;
  for (const UcxTransport* transport : transports_) {
    if (transport != nullptr) Add(transport->stats(), &stats.transports);
  }
  if (overlaps_ != nullptr) stats.placement = overlaps_->stats();
  return stats;
}

absl::Status NodeProcess::Run() {
  CAIRN_RETURN_IF_ERROR(CheckArenaFits(settings_.options.arena_bytes, ReadMemoryFigures()));
  CAIRN_ASSIGN_OR_RETURN(NodePorts ports, MakePorts());
  absl::StatusOr<std::unique_ptr<Node>> node = Node::Create(settings_.options, std::move(ports));
  if (!node.ok()) {
    StopLoops();
    return node.status();
  }
  node_ = *std::move(node);
  if (absl::Status started = node_->Start(); !started.ok()) {
    StopLoops();
    return started;
  }
  loop_->Start("node-loop");
  for (std::size_t i = 0; i < shard_loops_.size(); ++i) {
    shard_loops_[i]->Start(absl::StrCat("shard-", i));
  }
  admin_service_.Attach(node_->admin());
  server_->SetReady(true);
  LogEvent(LogLevel::kInfo, "node_started")
      .With("grpc", server_->address())
      .With("socket", folder_->PathOf(kSocket))
      .With("arena_bytes", settings_.options.arena_bytes)
      .With("shards", settings_.options.shards)
      .With("placement", settings_.placement_grpc)
      .With("security", settings_.security.is_dev_mode ? "dev_mode_without_tls" : "tls");
  return absl::OkStatus();
}

void NodeProcess::Drain(absl::AnyInvocable<void()> done) {
  server_->SetReady(false);
  loop_->Post([this, done = std::move(done)]() mutable { node_->Stop(std::move(done)); });
}

void NodeProcess::StopLoops() {
  for (const std::unique_ptr<AsioLoop>& loop : shard_loops_) loop->Stop();
  if (loop_ != nullptr) loop_->Stop();
  node_.reset();
  overlaps_.reset();
  transports_ = {};
  copiers_.clear();
  shard_loops_.clear();
  loop_.reset();
}

NodeProcess::~NodeProcess() {
  if (server_ != nullptr) server_->SetReady(false);
  // Nobody calls the node any more; calls that it holds end with it, so that the server's wait for
  // them is short.
  admin_service_.Detach();
  StopLoops();
  if (server_ != nullptr) server_->Shutdown(absl::Seconds(1));
}

}  // namespace cairn
