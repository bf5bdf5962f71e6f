#ifndef CAIRN_LIBS_TERMINATION_TERMINATION_H_
#define CAIRN_LIBS_TERMINATION_TERMINATION_H_

#include "absl/time/time.h"

namespace cairn {

// Termination waits for SIGTERM and SIGINT, on the main thread. Made before any other thread, so
// that none of them ever gets these signals. SIGPIPE is ignored from here on.
class Termination {
 public:
  Termination();
  ~Termination();
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;

  enum class Event { kSignal, kNotified, kTimeout };
  // Waits for a signal, for Notify, or until `timeout` is over.
  Event Wait(absl::Duration timeout = absl::InfiniteDuration());
  void Notify();  // any thread

 private:
  const int signal_fd_;
  const int event_fd_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_TERMINATION_TERMINATION_H_
