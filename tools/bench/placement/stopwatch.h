#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_STOPWATCH_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_STOPWATCH_H_

#include <chrono>

namespace cairn::bench {

// Seconds since it was made, on the steady clock.
class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  }

 private:
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_STOPWATCH_H_
