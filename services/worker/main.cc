// cairn-worker: HTTP in, tokens out (services/ARCHITECTURE.md, life of a request).
#include <iostream>
#include <string>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/config/service_main.h"
#include "libs/termination/termination.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "services/worker/worker.h"

namespace {

constexpr char kProgram[] = "cairn-worker";

int Serve(const cairn::WorkerOptions& options) {
  cairn::Termination termination;
  const auto worker = cairn::Worker::Start(options);
  if (!worker.ok()) {
    std::cerr << kProgram << ": " << worker.status().message() << "\n";
    return cairn::kExitFailed;
  }
  termination.Wait();
  cairn::LogEvent(cairn::LogLevel::kInfo, "worker_stopping");
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
