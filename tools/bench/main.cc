// cairn-bench: benches of the whole system, one subcommand each (README.md).
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "libs/base/log.h"
#include "libs/memory_memfd/memfd_memory.h"
#include "libs/rpc/rpc_server.h"
#include "libs/termination/termination.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "tools/bench/benches.h"
#include "tools/bench/command_line.h"
#include "tools/bench/raw_ucx.h"
#include "tools/bench/shared_memory.h"
#include "tools/bench/transport_pair.h"

namespace {

using cairn::bench::Bench;

// The other process of a contender, started by us: `cairn-bench serve NAME [ARGUMENT]`.
int Serve(const std::vector<std::string>& args) {
  cairn::MemfdMemorySource memory{cairn::MemfdMemorySource::Options{}};
  const std::string name = args.size() > 1 ? args[1] : "";
  absl::Status status = absl::InvalidArgumentError("serves nothing of the name " + name);
  if (name == "ucx") status = cairn::bench::ServeRawUcx(memory);
  if (name == "transport") status = cairn::bench::ServeTransportPair(memory);
  if (name == "memcpy") status = cairn::bench::ServeSharedMemory(memory);
  if (name == "session" && args.size() > 2) status = cairn::bench::HoldSession(args[2]);
  std::cerr << "cairn-bench serve: " << status.message() << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  cairn::SetUcxDefaults();  // before any thread
  cairn::SetLogLevel(cairn::LogLevel::kError);
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (!args.empty() && args[0] == "serve") return Serve(args);
  cairn::Termination termination;
  cairn::RouteRpcLogs();
  const char* const path = std::getenv("PATH");
  const Bench* const benches[] = {&cairn::bench::kPullBench, &cairn::bench::kAcquireBench,
                                  &cairn::bench::kIdleBench, &cairn::bench::kPlacementBench};
  return cairn::bench::RunBench(benches, args,
                                {.termination = termination,
                                 .program_path = path == nullptr ? "" : path,
                                 .out = std::cout,
                                 .err = std::cerr,
                                 .flags = {}});
}
