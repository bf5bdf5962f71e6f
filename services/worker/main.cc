// cairn-worker: HTTP in, tokens out (services/ARCHITECTURE.md, life of a request).
#include <sys/resource.h>

#include <cstdint>
#include <iostream>
#include <string>

#include "absl/time/time.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/config/service_main.h"
#include "libs/rpc/rpc_server.h"
#include "libs/termination/termination.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "services/worker/worker.h"

namespace {

using cairn::Termination;

constexpr char kProgram[] = "cairn-worker";

// Idle clients must not take the descriptors that the engine's client needs: HTTP gets what is
// left.
void BoundConnections(std::uint32_t& connections_max) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  using cairn::limits::kDescriptorsNotHttp;
  const rlim_t left = limit.rlim_cur > 2 * kDescriptorsNotHttp
                          ? limit.rlim_cur - kDescriptorsNotHttp
                          : limit.rlim_cur / 2;
  if (connections_max <= left) return;
  cairn::LogEvent(cairn::LogLevel::kWarning, "connections_max_lowered")
      .With("from", connections_max)
      .With("to", left)
      .With("open_files_max", limit.rlim_cur);
  connections_max = static_cast<std::uint32_t>(left);
}

int Serve(cairn::WorkerOptions& options) {
  Termination termination;
  cairn::RouteRpcLogs();
  BoundConnections(options.http.connections_max);
  const auto worker = cairn::Worker::Start(options);
  if (!worker.ok()) {
    std::cerr << kProgram << ": " << worker.status().message() << "\n";
    return cairn::kExitFailed;
  }
  termination.Wait();
  cairn::LogEvent(cairn::LogLevel::kInfo, "worker_draining")
      .With("timeout", absl::FormatDuration(options.drain_timeout));
  (*worker)->Drain([&] { termination.Notify(); });
  // Until all are answered, or the time is up, or someone is impatient.
  const bool is_done = termination.Wait(options.drain_timeout) == Termination::Event::kNotified;
  cairn::LogEvent(cairn::LogLevel::kInfo, "worker_stopping")
      .With("requests", is_done ? "answered" : "cut");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  cairn::SetUcxDefaults();  // before any thread
  cairn::config::v1::Worker config;
  cairn::WorkerOptions options;
  return cairn::RunService(
      kProgram, {argv + 1, argv + argc}, {std::cout, std::cerr}, config,
      [&] {
        CAIRN_ASSIGN_OR_RETURN(options, cairn::ToWorkerOptions(config));
        return absl::OkStatus();
      },
      [&] { return Serve(options); });
}
