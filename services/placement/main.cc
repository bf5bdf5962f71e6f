// cairn-placement: where recurrent states of stored prefixes shall stand (README.md).
#include <csignal>
#include <ctime>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cairn/config/v1/placement.pb.h"
#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/config/service_flags.h"
#include "libs/config/yaml_config.h"
#include "libs/rpc/rpc_server.h"
#include "libs/store_rocksdb/rocksdb_store.h"
#include "services/placement/placement_host.h"
#include "services/placement/placement_service.h"
#include "services/placement/placement_settings.h"

namespace {

using cairn::LogEvent;
using cairn::LogLevel;
using cairn::PlacementHost;

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

int Misused(absl::string_view message) {
  std::cerr << "cairn-placement: " << message << "\n";
  return kExitUsage;
}

// Blocked before any thread starts, so that every thread inherits it; then waited for here.
sigset_t BlockTermination() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

absl::StatusOr<std::unique_ptr<PlacementHost>> Restored(const cairn::PlacementSettings& settings) {
  CAIRN_ASSIGN_OR_RETURN(auto store, cairn::RocksdbStore::Open(settings.snapshot_dir));
  return PlacementHost::Create(settings.planner, std::move(store));
}

void Save(PlacementHost& host) {
  const auto written = host.SnapshotIfChanged();
  if (!written.ok()) {
    LogEvent(LogLevel::kWarning, "snapshot_failed").With("why", written.status().message());
  } else if (written->generation != 0) {
    LogEvent(LogLevel::kInfo, "snapshot_written")
        .With("generation", written->generation)
        .With("bytes", written->bytes);
  }
}

int Serve(const cairn::PlacementSettings& settings) {
  const sigset_t signals = BlockTermination();
  cairn::RouteRpcLogs();
  const auto failed = [](const absl::Status& status) {
    LogEvent(LogLevel::kError, "placement_failed").With("why", status.message());
    return kExitFailed;
  };
  const auto host = Restored(settings);
  if (!host.ok()) return failed(host.status());
  cairn::PlacementService service(**host, {.is_dev_mode = settings.security.is_dev_mode,
                                           .grid_tokens = settings.planner.grid_tokens});
  const auto server = cairn::RpcServer::Start({.listen = settings.grpc_listen,
                                               .security = settings.security,
                                               .services = {service.service()}});
  if (!server.ok()) return failed(server.status());
  (*server)->SetReady(true);
  LogEvent(LogLevel::kInfo, "placement_started")
      .With("grpc", (*server)->address())
      .With("security", settings.security.is_dev_mode ? "dev_mode_without_tls" : "tls");
  const timespec interval = absl::ToTimespec(settings.snapshot_interval);
  while (sigtimedwait(&signals, nullptr, &interval) < 0) Save(**host);
  (*server)->SetReady(false);
  (*server)->Shutdown(absl::Seconds(1));
  Save(**host);
  LogEvent(LogLevel::kInfo, "placement_stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto flags = cairn::ParseServiceFlags(arguments);
  if (!flags.ok()) {
    std::cerr << cairn::ServiceUsage("cairn-placement");
    return Misused(flags.status().message());
  }
  if (flags->help) {
    std::cout << cairn::ServiceUsage("cairn-placement");
    return 0;
  }
  cairn::SetLogLevel(flags->log_level);
  cairn::config::v1::Placement config;
  if (absl::Status s = cairn::LoadYamlConfig(flags->config, &config); !s.ok()) {
    return Misused(s.message());
  }
  if (flags->print_config) std::cout << cairn::ToYaml(config);
  const auto settings = cairn::SettingsOf(config);
  if (!settings.ok()) {
    return Misused(flags->config + ": " + std::string(settings.status().message()));
  }
  if (flags->check_config) std::cerr << "cairn-placement: " << flags->config << ": good\n";
  if (flags->check_config || flags->print_config) return 0;
  return Serve(*settings);
}
