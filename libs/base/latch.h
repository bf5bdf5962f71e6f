#ifndef CAIRN_LIBS_BASE_LATCH_H_
#define CAIRN_LIBS_BASE_LATCH_H_

#include "libs/base/mutex.h"

namespace cairn {

// Threads wait for something that happens once on another. When the last Wait has returned, the
// latch may go.
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

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_LATCH_H_
