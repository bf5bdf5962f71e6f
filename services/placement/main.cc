// cairn-placement: where recurrent states of stored prefixes shall stand (README.md).
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "cairn/config/v1/placement.pb.h"
#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/config/service_main.h"
#include "libs/rpc/rpc_server.h"
#include "libs/store_rocksdb/rocksdb_store.h"
#include "libs/termination/termination.h"
#include "services/placement/placement_host.h"
#include "services/placement/placement_service.h"
#include "services/placement/placement_settings.h"

namespace {

using cairn::LogEvent;
using cairn::LogLevel;
using cairn::PlacementHost;

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
  cairn::Termination termination;
  cairn::RouteRpcLogs();
  const auto failed = [](const absl::Status& status) {
    LogEvent(LogLevel::kError, "placement_failed").With("why", status.message());
    return cairn::kExitFailed;
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
  while (termination.Wait(settings.snapshot_interval) == cairn::Termination::Event::kTimeout) {
    Save(**host);
  }
  (*server)->SetReady(false);
  (*server)->Shutdown(absl::Seconds(1));
  (*host)->Settle();
  Save(**host);
  LogEvent(LogLevel::kInfo, "placement_stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  cairn::config::v1::Placement config;
  cairn::PlacementSettings settings;
  return cairn::RunService(
      "cairn-placement", {argv + 1, argv + argc}, {std::cout, std::cerr}, config,
      [&] {
        CAIRN_ASSIGN_OR_RETURN(settings, cairn::SettingsOf(config));
        return absl::OkStatus();
      },
      [&] { return Serve(settings); });
}
