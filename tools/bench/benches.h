#ifndef CAIRN_TOOLS_BENCH_BENCHES_H_
#define CAIRN_TOOLS_BENCH_BENCHES_H_

#include "absl/status/status.h"
#include "tools/bench/command_line.h"

namespace cairn::bench {

extern const Bench kPullBench;       // pull_bench.cc
extern const Bench kAcquireBench;    // acquire_bench.cc
extern const Bench kIdleBench;       // idle_bench.cc
extern const Bench kPlacementBench;  // placement/placement_bench.cc

// The idle client of kIdleBench, a process of its own: opens a session with the node of `run_dir`,
// says "up" and holds it until it is killed.
absl::Status HoldSession(const std::string& run_dir);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_BENCHES_H_
