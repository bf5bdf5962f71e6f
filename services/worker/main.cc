// cairn-worker: HTTP in, tokens out (services/ARCHITECTURE.md, life of a request).
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "libs/base/log.h"
#include "libs/config/service_flags.h"
#include "libs/config/yaml_config.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "services/worker/worker.h"

namespace {

constexpr int kUsage = 2;

int Fail(int code, const absl::Status& status) {
  std::fprintf(stderr, "cairn-worker: %s\n", std::string(status.message()).c_str());
  return code;
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

}  // namespace

int main(int argc, char** argv) {
  cairn::SetUcxDefaults();
  const auto flags = cairn::ParseServiceFlags(std::vector<std::string>(argv + 1, argv + argc));
  if (!flags.ok()) {
    Fail(kUsage, flags.status());
    std::fputs(cairn::ServiceUsage("cairn-worker").c_str(), stderr);
    return kUsage;
  }
  if (flags->help) {
    std::fputs(cairn::ServiceUsage("cairn-worker").c_str(), stdout);
    return 0;
  }
  cairn::SetLogLevel(flags->log_level);
  cairn::config::v1::Worker config;
  if (absl::Status s = cairn::LoadYamlConfig(flags->config, &config); !s.ok()) {
    return Fail(kUsage, s);
  }
  const auto options = cairn::ToWorkerOptions(config);
  if (!options.ok()) {
    return Fail(kUsage,
                absl::Status(options.status().code(),
                             flags->config + ": " + std::string(options.status().message())));
  }
  if (flags->print_config) std::fputs(cairn::ToYaml(config).c_str(), stdout);
  if (flags->check_config || flags->print_config) return 0;

  const sigset_t signals = BlockTermination();
  auto worker = cairn::Worker::Start(*options);
  if (!worker.ok()) return Fail(1, worker.status());
  int signal = 0;
  sigwait(&signals, &signal);
  cairn::LogEvent(cairn::LogLevel::kInfo, "worker_stopping").With("signal", signal);
  worker->reset();
  return 0;
}
