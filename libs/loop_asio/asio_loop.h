#ifndef CAIRN_LIBS_LOOP_ASIO_ASIO_LOOP_H_
#define CAIRN_LIBS_LOOP_ASIO_ASIO_LOOP_H_

#include <memory>
#include <string>

#include "libs/ports/loop.h"

namespace cairn {

// AsioLoop is the real loop: one Asio io_context, run by one thread, its own or the caller's.
//
// Stop is a gate: the task that runs is finished, all others (posted, timers, watches) are
// destroyed without running, and so are later ones. Then its components may be destroyed by the
// thread that stopped it: what they call here has no effect any more.
//
// Watched descriptors become non-blocking. A watch may call once although nothing is ready any more
// (epoll's news can be late): read until EAGAIN is no error. An idle loop sleeps in epoll.
class AsioLoop : public Loop {
 public:
  AsioLoop();
  ~AsioLoop() override;  // stops; not from inside a task

  // Runs the loop on the calling thread until Stop. Once, and not after Start.
  void Run();
  // Runs the loop on a thread of its own, named `thread_name` (15 characters at most are kept).
  void Start(const std::string& thread_name);
  // Any thread, any number of times. Unless called from inside the loop, returns when the loop's
  // thread has run its last task.
  void Stop();
  bool IsOwnThread() const;

  Instant Now() const override;
  void Post(Task task) override;
  TimerId RunAt(Instant when, Task task) override;
  void Cancel(TimerId timer) override;
  absl::Status WatchReadable(int fd, absl::AnyInvocable<void()> on_ready) override;
  absl::Status WatchWritable(int fd, absl::AnyInvocable<void()> on_ready) override;
  void Unwatch(int fd) override;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_LOOP_ASIO_ASIO_LOOP_H_
