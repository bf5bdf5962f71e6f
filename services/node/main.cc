#include <sys/resource.h>

#include <iostream>
#include <string>
#include <vector>

#include "cairn/config/v1/node.pb.h"
#include "libs/base/log.h"
#include "libs/config/service_flags.h"
#include "libs/config/yaml_config.h"
#include "libs/rpc/rpc_server.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "services/node/node_process.h"
#include "services/node/node_settings.h"
#include "services/node/termination.h"

namespace {

using cairn::LogEvent;
using cairn::LogLevel;
using cairn::Termination;

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

// Clients of a node that is gone read its arena on for this long: its memory may come back.
constexpr absl::Duration kRemapGrace = absl::Seconds(5);

int Misused(absl::string_view message) {
  std::cerr << "cairn-node: " << message << "\n";
  return kExitUsage;
}

// A session takes several descriptors; the default soft limit is for programs that use select.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

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
  RaiseDescriptorLimit();
  cairn::RouteRpcLogs();
  auto process = cairn::NodeProcess::Serve(settings);
  absl::Status started = process.status();
  if (started.ok()) started = RunWithGrace(**process, termination);
  if (!started.ok()) {
    LogEvent(LogLevel::kError, "node_failed").With("why", started.message());
    return kExitFailed;
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
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto flags = cairn::ParseServiceFlags(arguments);
  if (!flags.ok()) {
    std::cerr << cairn::ServiceUsage("cairn-node");
    return Misused(flags.status().message());
  }
  if (flags->help) {
    std::cout << cairn::ServiceUsage("cairn-node");
    return 0;
  }
  cairn::SetLogLevel(flags->log_level);
  cairn::config::v1::Node config;
  if (absl::Status s = cairn::LoadYamlConfig(flags->config, &config); !s.ok()) {
    return Misused(s.message());
  }
  if (flags->print_config) std::cout << cairn::ToYaml(config);
  const auto settings = cairn::SettingsOf(config);
  if (!settings.ok())
    return Misused(flags->config + ": " + std::string(settings.status().message()));
  if (flags->check_config) std::cerr << "cairn-node: " << flags->config << ": good\n";
  if (flags->check_config || flags->print_config) return 0;
  return Serve(*settings);
}
