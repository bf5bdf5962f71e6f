#ifndef CAIRN_TOOLS_BENCH_METER_H_
#define CAIRN_TOOLS_BENCH_METER_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

// What a bench reads off clocks, and what it makes of it. Seconds are doubles: figures, not
// deadlines.
namespace cairn::bench {

double NowSeconds();  // monotonic
// User and system time of all threads of a live process, to the nanosecond; 0 if there is none.
double CpuSecondsOf(pid_t pid);
// Time that this machine's processors were not idle since boot, stolen time included; in steps of
// 10 ms.
double MachineBusySeconds();

// The q-th quantile (0 to 1) of `values`, which it reorders; 0 of none.
double Quantile(std::vector<float>& values, double q);
double Median(std::vector<double> values);

// One stretch of measuring: what was done, how long each operation took, and who used processors.
struct Slice {
  std::uint64_t operations = 0;
  std::uint64_t bytes = 0;
  std::vector<float> latencies_us;
  double seconds = 0;
  double client_cpu_s = 0;  // this process
  double server_cpu_s = 0;
  double others_cpu_s = 0;  // everybody else on this machine

  void Add(std::uint64_t operation_bytes, double latency_s) {
    ++operations;
    bytes += operation_bytes;
    latencies_us.push_back(static_cast<float>(latency_s * 1e6));
  }
  double gb_per_s() const { return seconds > 0 ? static_cast<double>(bytes) / 1e9 / seconds : 0; }
};

// Fills the times of `slice` from its construction to Stop.
class Meter {
 public:
  Meter(Slice& slice, absl::Span<const pid_t> servers);
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  double started_at() const { return started_at_; }
  void Stop();

 private:
  double ServersCpu() const;

  Slice& slice_;
  const std::vector<pid_t> servers_;
  double machine_;
  double client_;
  double server_;
  double started_at_;
};

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_METER_H_
