#ifndef CAIRN_SERVICES_PLACEMENT_FAIR_MUTEX_H_
#define CAIRN_SERVICES_PLACEMENT_FAIR_MUTEX_H_

#include <atomic>
#include <cstdint>

#include "libs/base/mutex.h"

namespace cairn {

// FairMutex lets its callers in in the order in which they came. std::mutex does not: a thread that
// gives it up and takes it again at once gets it nearly always, so that whoever waits for a gap
// between two slices of long work waits for all of it. Who comes looks again and again for some
// microseconds before it sleeps: a thread that has to be woken loses more than that.
// Threads: any.
class CAIRN_TS_(lockable) FairMutex {
 public:
  FairMutex() = default;
  FairMutex(const FairMutex&) = delete;
  FairMutex& operator=(const FairMutex&) = delete;

  void Lock() CAIRN_TS_(exclusive_lock_function()) CAIRN_NO_THREAD_SAFETY {
    const std::uint64_t ticket = tickets_.fetch_add(1, std::memory_order_relaxed);
    for (int look = 0; look < kLooks; ++look) {
      if (serving_.load(std::memory_order_acquire) == ticket) return;
    }
    MutexLock lock(mutex_);
    ++sleepers_;
    while (serving_.load(std::memory_order_acquire) != ticket) woken_.Wait(mutex_);
    --sleepers_;
  }
  void Unlock() CAIRN_TS_(unlock_function()) CAIRN_NO_THREAD_SAFETY {
    MutexLock lock(mutex_);  // so that nobody falls asleep between looking and waiting
    serving_.fetch_add(1, std::memory_order_release);
    if (sleepers_ > 0) woken_.NotifyAll();
  }
  // How many wait. Only for the holder: it may be time to give it up.
  std::uint64_t Waiting() const {
    return tickets_.load(std::memory_order_relaxed) - serving_.load(std::memory_order_relaxed) - 1;
  }
  bool IsWanted() const { return Waiting() > 0; }

 private:
  static constexpr int kLooks = 50'000;  // some 30 us: as long as one observation and one plan

  std::atomic<std::uint64_t> tickets_{0};  // handed out
  std::atomic<std::uint64_t> serving_{0};  // whose turn it is
  Mutex mutex_;
  CondVar woken_;
  int sleepers_ CAIRN_GUARDED_BY(mutex_) = 0;
};

class CAIRN_TS_(scoped_lockable) FairLock {
 public:
  explicit FairLock(FairMutex& mutex) CAIRN_TS_(exclusive_lock_function(mutex)) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~FairLock() CAIRN_TS_(unlock_function()) { mutex_.Unlock(); }
  FairLock(const FairLock&) = delete;
  FairLock& operator=(const FairLock&) = delete;

 private:
  FairMutex& mutex_;
};

}  // namespace cairn
#endif  // CAIRN_SERVICES_PLACEMENT_FAIR_MUTEX_H_
