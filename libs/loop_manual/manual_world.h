#ifndef CAIRN_LIBS_LOOP_MANUAL_MANUAL_WORLD_H_
#define CAIRN_LIBS_LOOP_MANUAL_MANUAL_WORLD_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "libs/base/instant.h"
#include "libs/base/rng.h"
#include "libs/ports/loop.h"

namespace cairn {

class ManualWorld;

// ManualLoop is one simulated thread. Its clock is the world's plus an offset of its own, so that
// an instant that leaks from one process to another shows.
//
// Threads: the driver's only; unlike a real loop, also for Post.
// Ownership: the world owns its loops, and keeps them until it ends itself, also crashed ones.
class ManualLoop : public Loop {
 public:
  struct Options {
    std::string name;
    absl::Duration clock_offset;  // loops of one process (shards) must have the same
  };
  ManualLoop(ManualWorld& world, const Options& options);
  ~ManualLoop() override;

  Instant Now() const override;
  void Post(Task task) override;
  TimerId RunAt(Instant when, Task task) override;
  void Cancel(TimerId timer) override;
  absl::Status WatchReadable(int fd, absl::AnyInvocable<void()> on_ready) override;
  absl::Status WatchWritable(int fd, absl::AnyInvocable<void()> on_ready) override;
  void Unwatch(int fd) override {}

  // SIGSTOP and SIGCONT: while paused nothing runs here; tasks and due timers wait.
  void Pause() { is_paused_ = true; }
  void Resume() { is_paused_ = false; }
  bool is_paused() const { return is_paused_; }
  // kill -9: destroys all tasks and timers now, and all later ones at once. For ever.
  void Crash();
  bool is_crashed() const { return is_crashed_; }

  const std::string& name() const { return name_; }
  // Tasks that could run now, and timers that are set.
  std::size_t ready_count() const { return ready_.size(); }
  std::size_t timer_count() const { return timers_.size(); }

 private:
  friend class ManualWorld;
  struct Ready {
    Task task;  // empty for a timer
    TimerId timer;
  };
  struct Due {
    Instant when;  // by the world's clock
    TimerId timer;
    friend bool operator>(const Due& a, const Due& b) {
      return a.when != b.when ? a.when > b.when : a.timer > b.timer;
    }
  };

  // The earliest timer's instant by the world's clock; Infinite() if there is none.
  Instant NextDue();
  // Makes timers that are due by `now` ready, in order.
  void Ripen(Instant now);
  // Runs the oldest ready task; false if it was a cancelled timer.
  bool RunOne();

  ManualWorld& world_;
  const std::string name_;
  const absl::Duration clock_offset_;
  std::deque<Ready> ready_;
  std::vector<Due> due_;  // min-heap; entries of cancelled timers are skipped
  absl::flat_hash_map<TimerId, Task> timers_;
  std::uint64_t timers_made_ = 0;
  bool is_paused_ = false;
  bool is_crashed_ = false;
};

// ManualWorld is the virtual clock and the scheduler of a simulation: every simulated process has a
// loop (or several) here. One seed, one history.
//
// Order:   tasks of one loop run in their order; which loop goes next is the seed's choice.
// Time:    a task takes up to `task_time_max`; when nothing is ready, the clock jumps to the next
//          timer of a loop that is not paused.
// Threads: one.
class ManualWorld {
 public:
  struct Options {
    std::uint64_t seed = 1;
    absl::Duration task_time_max = absl::Microseconds(2);
  };
  explicit ManualWorld(const Options& options);
  ~ManualWorld();
  ManualWorld(const ManualWorld&) = delete;
  ManualWorld& operator=(const ManualWorld&) = delete;

  ManualLoop& AddLoop(const ManualLoop::Options& options);
  Instant Now() const { return now_; }
  Rng& rng() { return rng_; }
  std::uint64_t steps() const { return steps_; }

  // Runs one task, jumping to the next timer if none is ready. False if nothing is left to run (but
  // for paused loops).
  bool Step();
  // Runs all that happens until the clock reaches `when` or `span` has passed.
  void RunUntil(Instant when);
  void RunFor(absl::Duration span);
  // Runs until `is_done()`; false if that did not come within `limit` or nothing was left to run.
  bool RunUntil(absl::FunctionRef<bool()> is_done, absl::Duration limit);

 private:
  // Runs one ready task of a loop picked by the seed; false if no loop has one.
  bool RunReady();
  Instant NextDue();

  Rng rng_;
  const std::uint64_t task_nanos_max_;
  Instant now_ = Instant::FromNanos(1'000'000'000);
  std::uint64_t steps_ = 0;
  std::vector<std::unique_ptr<ManualLoop>> loops_;
  std::vector<ManualLoop*> live_;
  std::vector<ManualLoop*> candidates_;  // scratch of RunReady
};

}  // namespace cairn
#endif  // CAIRN_LIBS_LOOP_MANUAL_MANUAL_WORLD_H_
