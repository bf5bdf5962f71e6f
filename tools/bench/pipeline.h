#ifndef CAIRN_TOOLS_BENCH_PIPELINE_H_
#define CAIRN_TOOLS_BENCH_PIPELINE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "libs/ports/loop.h"
#include "tools/bench/loop_call.h"
#include "tools/bench/meter.h"

namespace cairn::bench {

// Pipeline keeps `window` operations in flight on a loop until a time is over, then waits for the
// rest. An operation is begun by `begin(lane, number)`, which may not end it at once, and ended by
// Done(lane, ...); a lane has one operation at a time.
// Threads: Run from outside the loop; all else on it.
class Pipeline {
 public:
  struct Options {
    std::uint32_t window = 1;
    std::uint64_t operation_bytes = 0;
    double until = 0;                // as NowSeconds
    std::uint64_t first_number = 0;  // numbers go on from here
  };
  using Begin = absl::AnyInvocable<void(std::uint32_t lane, std::uint64_t number)>;

  Pipeline(Loop& loop, const Options& options, Slice& slice, Begin begin)
      : loop_(loop),
        options_(options),
        slice_(slice),
        begin_(std::move(begin)),
        started_at_(options.window),
        next_(options.first_number) {}

  // The first error of an operation, if any. `next_number` becomes the first unused one.
  absl::Status Run(std::uint64_t& next_number) {
    loop_.Post([this] {
      running_ = options_.window;
      for (std::uint32_t lane = 0; lane < options_.window; ++lane) Start(lane);
    });
    ended_.Wait();
    next_number = next_;
    return status_;
  }

  void Done(std::uint32_t lane, const absl::Status& status) {
    const double now = NowSeconds();
    if (status.ok()) {
      slice_.Add(options_.operation_bytes, now - started_at_[lane]);
    } else if (status_.ok()) {
      status_ = status;
    }
    if (status_.ok() && now < options_.until) return Start(lane);
    if (--running_ == 0) ended_.Set();
  }

 private:
  void Start(std::uint32_t lane) {
    started_at_[lane] = NowSeconds();
    begin_(lane, next_++);
  }

  Loop& loop_;
  const Options options_;
  Slice& slice_;
  Begin begin_;
  std::vector<double> started_at_;
  std::uint64_t next_;
  std::uint32_t running_ = 0;
  absl::Status status_;
  Latch ended_;
};

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PIPELINE_H_
