#ifndef CAIRN_TESTS_CONTRACT_LOOP_RIG_H_
#define CAIRN_TESTS_CONTRACT_LOOP_RIG_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "libs/base/mutex.h"
#include "libs/loop_asio/asio_loop.h"
#include "libs/loop_manual/manual_world.h"

namespace cairn::contract {

// LoopRig makes loops, simulated or real, and waits for what happens on them, so that one test body
// runs over both. What callbacks write and conditions read goes through Record and Await.
class LoopRig {
 public:
  virtual ~LoopRig() = default;
  virtual Loop& NewLoop() = 0;
  // Runs `task` on `loop` and returns when it has run.
  virtual void On(Loop& loop, absl::FunctionRef<void()> task) = 0;
  // Notes something, from any loop.
  virtual void Record(absl::FunctionRef<void()> note) = 0;
  // Waits until `is_done`; false after a deadline that is generous for a loaded machine.
  virtual bool Await(absl::FunctionRef<bool()> is_done) = 0;
  // Stops a loop for ever, as its process's end would: nothing more runs on it.
  virtual void StopLoop(Loop& loop) = 0;
  virtual bool is_simulated() const = 0;
};

class ManualRig : public LoopRig {
 public:
  explicit ManualRig(std::uint64_t seed) : world_({.seed = seed}) {}
  Loop& NewLoop() override {
    return world_.AddLoop({.name = "loop", .clock_offset = absl::Seconds(++loops_)});
  }
  void On(Loop& loop, absl::FunctionRef<void()> task) override {
    bool has_run = false;
    loop.Post([&] {
      task();
      has_run = true;
    });
    Await([&] { return has_run; });
  }
  void Record(absl::FunctionRef<void()> note) override { note(); }
  bool Await(absl::FunctionRef<bool()> is_done) override {
    return world_.RunUntil(is_done, absl::Hours(1));
  }
  void StopLoop(Loop& loop) override { static_cast<ManualLoop&>(loop).Crash(); }
  bool is_simulated() const override { return true; }
  ManualWorld& world() { return world_; }

 private:
  ManualWorld world_;
  int loops_ = 0;
};

// A note wakes Await; so does a tick of its own loop, which is how it learns that time is up.
class AsioRig : public LoopRig {
 public:
  AsioRig() { clock_.Start("test-clock"); }
  Loop& NewLoop() override {
    loops_.push_back(std::make_unique<AsioLoop>());
    loops_.back()->Start("test-loop");
    return *loops_.back();
  }
  void On(Loop& loop, absl::FunctionRef<void()> task) override {
    bool has_run = false;
    loop.Post([&] {
      task();
      Record([&] { has_run = true; });
    });
    Await([&] { return has_run; });
  }
  void Record(absl::FunctionRef<void()> note) override {
    MutexLock lock(mutex_);
    note();
    changed_.NotifyAll();
  }
  bool Await(absl::FunctionRef<bool()> is_done) override {
    bool is_late = false;
    TimerId timer;
    clock_.Post([&] {
      const TimerId made =
          clock_.RunAt(clock_.Now() + absl::Seconds(60), [&] { Record([&] { is_late = true; }); });
      Record([&] { timer = made; });
    });
    bool is_reached = false;
    {
      MutexLock lock(mutex_);
      while (timer == TimerId()) changed_.Wait(mutex_);
      while (!(is_reached = is_done()) && !is_late) changed_.Wait(mutex_);
    }
    bool is_cancelled = false;
    clock_.Post([&] {
      clock_.Cancel(timer);
      Record([&] { is_cancelled = true; });
    });
    MutexLock lock(mutex_);
    while (!is_cancelled) changed_.Wait(mutex_);
    return is_reached;
  }
  void StopLoop(Loop& loop) override { static_cast<AsioLoop&>(loop).Stop(); }
  bool is_simulated() const override { return false; }

 private:
  Mutex mutex_;
  CondVar changed_;
  AsioLoop clock_;
  std::vector<std::unique_ptr<AsioLoop>> loops_;
};

inline std::unique_ptr<LoopRig> NewRig(bool simulated, std::uint64_t seed = 1) {
  if (simulated) return std::make_unique<ManualRig>(seed);
  return std::make_unique<AsioRig>();
}

}  // namespace cairn::contract
#endif  // CAIRN_TESTS_CONTRACT_LOOP_RIG_H_
