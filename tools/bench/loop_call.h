#ifndef CAIRN_TOOLS_BENCH_LOOP_CALL_H_
#define CAIRN_TOOLS_BENCH_LOOP_CALL_H_

#include <utility>

#include "absl/functional/any_invocable.h"
#include "libs/base/mutex.h"
#include "libs/ports/loop.h"

namespace cairn::bench {

// One thread waits for what another one tells, once.
class Latch {
 public:
  void Set() {
    MutexLock lock(mutex_);
    is_set_ = true;
    changed_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(mutex_);
    while (!is_set_) changed_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool is_set_ CAIRN_GUARDED_BY(mutex_) = false;
};

// Runs `begin` on the loop and returns when it has called the task that it is given: at once, or
// later, in a callback. From another thread than the loop's.
inline void CallOn(Loop& loop, absl::AnyInvocable<void(Task done)> begin) {
  Latch ended;
  loop.Post([&] { begin([&ended] { ended.Set(); }); });
  ended.Wait();
}

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_LOOP_CALL_H_
