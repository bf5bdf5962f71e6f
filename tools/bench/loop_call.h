#ifndef CAIRN_TOOLS_BENCH_LOOP_CALL_H_
#define CAIRN_TOOLS_BENCH_LOOP_CALL_H_

#include "absl/functional/any_invocable.h"
#include "libs/base/latch.h"
#include "libs/ports/loop.h"

namespace cairn::bench {

// Runs `begin` on the loop and returns when it has called the task that it is given: at once, or
// later, in a callback. From another thread than the loop's.
inline void CallOn(Loop& loop, absl::AnyInvocable<void(Task done)> begin) {
  Latch ended;
  loop.Post([&] { begin([&ended] { ended.Set(); }); });
  ended.Wait();
}

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_LOOP_CALL_H_
