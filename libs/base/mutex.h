#ifndef CAIRN_LIBS_BASE_MUTEX_H_
#define CAIRN_LIBS_BASE_MUTEX_H_

#include <condition_variable>
#include <mutex>

// std::mutex with Clang's thread-safety annotations. absl::Mutex is not used: Debian's Abseil is
// not instrumented, so TSan reports false races in it [measured, design deps.md].

#if defined(__clang__)
#define CAIRN_TS_(x) __attribute__((x))
#else
#define CAIRN_TS_(x)
#endif
#define CAIRN_GUARDED_BY(m) CAIRN_TS_(guarded_by(m))
#define CAIRN_REQUIRES(m) CAIRN_TS_(exclusive_locks_required(m))
#define CAIRN_EXCLUDES(m) CAIRN_TS_(locks_excluded(m))
#define CAIRN_NO_THREAD_SAFETY CAIRN_TS_(no_thread_safety_analysis)

namespace cairn {

class CAIRN_TS_(lockable) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void Lock() CAIRN_TS_(exclusive_lock_function()) { mutex_.lock(); }
  void Unlock() CAIRN_TS_(unlock_function()) { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class CAIRN_TS_(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) CAIRN_TS_(exclusive_lock_function(mutex)) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() CAIRN_TS_(unlock_function()) { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waiting on a condition of what `mutex` guards. Call Wait in a loop that re-checks the condition.
class CondVar {
 public:
  void Wait(Mutex& mutex) CAIRN_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    cond_.wait(lock);
    lock.release();
  }
  void NotifyOne() { cond_.notify_one(); }
  void NotifyAll() { cond_.notify_all(); }

 private:
  std::condition_variable cond_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_MUTEX_H_
