#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fstream>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "libs/base/status_macros.h"
#include "libs/memory_memfd/memfd_memory.h"
#include "tools/bench/bench_client.h"
#include "tools/bench/benches.h"
#include "tools/bench/meter.h"
#include "tools/bench/started_node.h"
#include "tools/cairnctl/table.h"

namespace cairn::bench {
namespace {

constexpr std::uint64_t kBlockBytes = 64 * kKiB;
constexpr std::uint64_t kArenaBytes = 64 * kMiB;
constexpr double kAimMillis = 10;  // in kAimSeconds
constexpr double kAimSeconds = 60;
constexpr absl::Duration kSettle = absl::Milliseconds(500);

struct Watched {
  const char* name;
  pid_t pid;
  double cpu_s = 0;
};

absl::Status WaitOr(Termination& termination, absl::Duration time) {
  const bool is_signalled = termination.Wait(time) == Termination::Event::kSignal;
  return is_signalled ? absl::CancelledError("interrupted") : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ChildProcess>> StartSession(const ScratchFolder& folder,
                                                           const StartedNode& node) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<ChildProcess> client,
                         ChildProcess::Start({.command = {ProgramFolder() + "/cairn-bench", "serve",
                                                          "session", node.run_dir()},
                                              .log_file = folder.PathOf("session.log"),
                                              .is_read = true}));
  CAIRN_RETURN_IF_ERROR(client->ReadLine().status());
  return client;
}

// Its session opens in the background, well within kSettle of the line that we wait for.
absl::StatusOr<std::unique_ptr<ChildProcess>> StartWorker(const ScratchFolder& folder,
                                                          const StartedNode& node,
                                                          const std::string& model,
                                                          Termination& termination) {
  const std::string config = folder.PathOf("worker.yaml");
  std::ofstream(config) << "model:\n  file: \"" << model << "\"\n"
                        << "engine:\n  pool_bytes: 64MiB\n"
                        << "cache:\n  node_run_dir: " << node.run_dir()
                        << "\n  single_tenant: true\n"
                        << "  security:\n    dev_mode_without_tls: true\n";
  CAIRN_ASSIGN_OR_RETURN(
      std::unique_ptr<ChildProcess> worker,
      ChildProcess::Start({.command = {ProgramFolder() + "/cairn-worker", "--config", config},
                           .log_file = folder.PathOf("worker.log")}));
  for (const double end = NowSeconds() + absl::ToDoubleSeconds(kPatience); NowSeconds() < end;) {
    const std::string log = worker->Log();
    if (absl::StrContains(log, " worker_started ")) return worker;
    if (!worker->IsRunning()) {
      return absl::UnavailableError(absl::StrCat("cairn-worker did not start:\n", log));
    }
    CAIRN_RETURN_IF_ERROR(WaitOr(termination, absl::Milliseconds(20)));
  }
  return absl::DeadlineExceededError("cairn-worker does not start:\n" + worker->Log());
}

boost::json::value Report(const std::vector<Watched>& all, double seconds, double others,
                          std::ostream* out) {
  Table table({"PROCESS", "CPU ms", absl::StrFormat("ms in %.0f s", kAimSeconds), "AIM"});
  boost::json::array processes;
  for (const Watched& one : all) {
    const double in_aim = one.cpu_s * 1000 * kAimSeconds / seconds;
    processes.push_back(boost::json::object{{"name", one.name},
                                            {"cpu_ms", one.cpu_s * 1000},
                                            {"cpu_ms_in_60_s", in_aim},
                                            {"aim_ms_in_60_s", kAimMillis},
                                            {"is_met", in_aim < kAimMillis}});
    table.Add({one.name, absl::StrFormat("%.2f", one.cpu_s * 1000), absl::StrFormat("%.2f", in_aim),
               in_aim < kAimMillis ? "met" : "missed"});
  }
  if (out != nullptr) {
    table.Print(*out);
    *out << absl::StrFormat("others used %.0f %% of a processor\n", others * 100 / seconds);
  }
  return boost::json::object{{"bench", "idle"},
                             {"seconds", seconds},
                             {"processes", std::move(processes)},
                             {"others_cpu_share", others / seconds}};
}

absl::StatusOr<boost::json::value> RunIdle(const BenchCall& call, bool is_quiet) {
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t seconds, call.Number("seconds", 60, 1, 86400));
  const std::string model = call.Text("model", "");
  if (!model.empty() && ::access(model.c_str(), R_OK) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--model: cannot read ", model));
  }
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<ScratchFolder> folder, ScratchFolder::Create());
  CAIRN_ASSIGN_OR_RETURN(
      const std::unique_ptr<StartedNode> node,
      StartedNode::Start(*folder, {.arena_bytes = kArenaBytes, .segment_bytes = kArenaBytes},
                         call.termination));
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<ChildProcess> session, StartSession(*folder, *node));
  std::vector<Watched> all = {{"node", node->pid()}, {"client", session->pid()}};
  std::unique_ptr<ChildProcess> worker;
  if (!model.empty()) {
    CAIRN_ASSIGN_OR_RETURN(worker, StartWorker(*folder, *node, model, call.termination));
    all.push_back({"worker", worker->pid()});
  }
  CAIRN_RETURN_IF_ERROR(WaitOr(call.termination, kSettle));
  call.err << "idle for " << seconds << " s\n";
  std::vector<pid_t> pids;
  for (Watched& one : all) {
    one.cpu_s = -CpuSecondsOf(one.pid);
    pids.push_back(one.pid);
  }
  Slice slice;
  Meter meter(slice, pids);
  CAIRN_RETURN_IF_ERROR(WaitOr(call.termination, absl::Seconds(seconds)));
  meter.Stop();
  for (Watched& one : all) one.cpu_s += CpuSecondsOf(one.pid);
  return Report(all, slice.seconds, slice.others_cpu_s, is_quiet ? nullptr : &call.out);
}

constexpr Flag kFlags[] = {
    {"seconds", "N", "how long to watch (default 60)"},
    {"model", "FILE", "a cairn-worker with this model too"},
};

}  // namespace

absl::Status HoldSession(const std::string& run_dir) {
  MemfdMemorySource memory{MemfdMemorySource::Options{}};
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<OwnedMemory> pool,
                         memory.Create("cairn-bench-pool", kArenaBytes));
  AsioLoop loop;
  loop.Start("bench-client");
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<BenchClient> client,
                         BenchClient::Open(loop, memory,
                                           {.run_dir = run_dir,
                                            .block_bytes = kBlockBytes,
                                            .pool = pool.get(),
                                            .offered_bytes_max = kArenaBytes}));
  std::cout << "up" << std::endl;
  for (;;) ::pause();
}

const Bench kIdleBench = {
    .name = "idle",
    .summary = "what a node and a connected client use while nobody asks",
    .help =
        "Starts a cairn-node and a process that holds a session with it (with --model, a\n"
        "cairn-worker too), leaves them alone and reads the CPU time that each has used.\n"
        "Aim: under 10 ms in 60 s each.",
    .flags = kFlags,
    .run = RunIdle,
};

}  // namespace cairn::bench
