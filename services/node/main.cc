#include <iostream>
#include <string>

#include "cairn/config/v1/node.pb.h"
#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/config/service_main.h"
#include "libs/rpc/rpc_server.h"
#include "libs/termination/termination.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "services/node/node_process.h"
#include "services/node/node_settings.h"

namespace {

using cairn::LogEvent;
using cairn::LogLevel;
using cairn::Termination;

// Clients of a node that is gone read its arena on for this long: its memory may come back.
constexpr absl::Duration kRemapGrace = absl::Seconds(5);

// Takes the arena; waits once for memory that a node before this one may leave behind.
absl::Status RunWithGrace(cairn::NodeProcess& process, Termination& termination) {
  const absl::Status started = process.Run();
  if (!absl::IsResourceExhausted(started)) return started;
  LogEvent(LogLevel::kWarning, "start_delayed")
      .With("why", started.message())
      .With("retry_after", absl::FormatDuration(kRemapGrace));
  if (termination.Wait(kRemapGrace) == Termination::Event::kSignal) return started;
  return process.Run();
}

int Serve(const cairn::NodeSettings& settings) {
  Termination termination;
  cairn::RouteRpcLogs();
  auto process = cairn::NodeProcess::Serve(settings);
  absl::Status started = process.status();
  if (started.ok()) started = RunWithGrace(**process, termination);
  if (!started.ok()) {
    LogEvent(LogLevel::kError, "node_failed").With("why", started.message());
    return cairn::kExitFailed;
  }
  termination.Wait();
  LogEvent(LogLevel::kInfo, "drain_started")
      .With("timeout", absl::FormatDuration(settings.drain_timeout));
  (*process)->Drain([&termination] { termination.Notify(); });
  if (termination.Wait(settings.drain_timeout) != Termination::Event::kNotified) {
    LogEvent(LogLevel::kWarning, "drain_cut_short").With("effect", "what still moved is dropped");
  }
  process->reset();
  LogEvent(LogLevel::kInfo, "node_stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  cairn::SetUcxDefaults();  // before any thread
  cairn::config::v1::Node config;
  cairn::NodeSettings settings;
  return cairn::RunService(
      "cairn-node", {argv + 1, argv + argc}, {std::cout, std::cerr}, config,
      [&] {
        CAIRN_ASSIGN_OR_RETURN(settings, cairn::SettingsOf(config));
        return absl::OkStatus();
      },
      [&] { return Serve(settings); });
}
