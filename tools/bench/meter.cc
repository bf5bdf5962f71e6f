#include "tools/bench/meter.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace cairn::bench {
namespace {

double ReadClock(clockid_t clock) {
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

double NowSeconds() { return ReadClock(CLOCK_MONOTONIC); }

double CpuSecondsOf(pid_t pid) {
  clockid_t clock{};
  return ::clock_getcpuclockid(pid, &clock) == 0 ? ReadClock(clock) : 0;
}

double MachineBusySeconds() {
  std::ifstream in("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, io_wait = 0, irq = 0, soft_irq = 0, steal = 0;
  in >> name >> user >> nice >> system >> idle >> io_wait >> irq >> soft_irq >> steal;
  return (user + nice + system + irq + soft_irq + steal) /
         static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double Quantile(std::vector<float>& values, double q) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return static_cast<double>(values[static_cast<std::size_t>(at)]);
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Meter::Meter(Slice& slice, absl::Span<const pid_t> servers)
    : slice_(slice),
      servers_(servers.begin(), servers.end()),
      machine_(MachineBusySeconds()),
      client_(CpuSecondsOf(::getpid())),
      server_(ServersCpu()),
      started_at_(NowSeconds()) {}

double Meter::ServersCpu() const {
  double sum = 0;
  for (const pid_t pid : servers_) sum += CpuSecondsOf(pid);
  return sum;
}

void Meter::Stop() {
  slice_.seconds = NowSeconds() - started_at_;
  slice_.client_cpu_s = CpuSecondsOf(::getpid()) - client_;
  slice_.server_cpu_s = ServersCpu() - server_;
  const double machine = MachineBusySeconds() - machine_;
  slice_.others_cpu_s = std::max(0.0, machine - slice_.client_cpu_s - slice_.server_cpu_s);
}

}  // namespace cairn::bench
