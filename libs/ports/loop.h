#ifndef CAIRN_LIBS_PORTS_LOOP_H_
#define CAIRN_LIBS_PORTS_LOOP_H_

#include <cstdint>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "libs/base/instant.h"
#include "libs/base/strong_id.h"

namespace cairn {

using TimerId = StrongId<struct TimerIdTag, std::uint64_t>;
using Task = absl::AnyInvocable<void()>;

// Loop is the one thread that a component lives on, and its clock: the only way that L4 and L5 see
// time, timers and other threads. Real: loop_asio. Simulated, deterministic: loop_manual.
//
// Threads: Post and Now from any thread; everything else from the loop's own thread. Tasks run one
//          at a time, never inside the call that schedules them.
// Order:   tasks posted by one thread run in their order; timers never run early; a cancelled timer
//          never runs.
class Loop {
 public:
  virtual ~Loop() = default;

  virtual Instant Now() const = 0;
  // Runs `task` soon. After the loop has stopped, `task` is destroyed without running.
  virtual void Post(Task task) = 0;
  // Runs `task` once, at `when` or soon after.
  virtual TimerId RunAt(Instant when, Task task) = 0;
  // No effect on a timer that has run or was cancelled.
  virtual void Cancel(TimerId timer) = 0;

  // Calls `on_ready` while `fd` is readable (level-triggered), until Unwatch. The caller keeps `fd`
  // open and owned. UNIMPLEMENTED in simulation, where nothing has descriptors.
  virtual absl::Status WatchReadable(int fd, absl::AnyInvocable<void()> on_ready) = 0;
  // The same for writable. A descriptor may be watched for both.
  virtual absl::Status WatchWritable(int fd, absl::AnyInvocable<void()> on_ready) = 0;
  // Ends both watches of `fd`; on return neither callback runs again.
  virtual void Unwatch(int fd) = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PORTS_LOOP_H_
