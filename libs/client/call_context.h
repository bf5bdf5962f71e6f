#ifndef CAIRN_LIBS_CLIENT_CALL_CONTEXT_H_
#define CAIRN_LIBS_CLIENT_CALL_CONTEXT_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/client/client_options.h"
#include "libs/client/client_stats.h"
#include "libs/client/gate.h"
#include "libs/client/held_pin.h"
#include "libs/ports/copier.h"
#include "libs/ports/loop.h"

namespace cairn {

class Session;

// What the parts of a client share. The client's own; on its loop.
struct CallContext {
  Loop& loop;
  Copier& copier;
  const ClientOptions& options;
  ClientStats& stats;
  Gate& gate;
  std::shared_ptr<PinHome> home;
  Session* session = nullptr;  // while one is up
  std::uint64_t last_request = 0;
  // One line in ten seconds of each, whatever goes wrong: a failing cache must not fill a disk.
  LogLimiter session_limiter{absl::Seconds(10)};
  LogLimiter call_limiter{absl::Seconds(10)};

  RequestId NextRequest() { return RequestId(++last_request); }
  // What travels for `deadline`; 0 when it has come.
  std::uint64_t RemainingMicros(Instant deadline) const {
    const absl::Duration left = deadline - loop.Now();
    if (left <= absl::ZeroDuration()) return 0;
    if (left >= absl::Microseconds(limits::kDeadlineMicrosMax)) return limits::kDeadlineMicrosMax;
    return static_cast<std::uint64_t>(absl::ToInt64Microseconds(left));
  }
  // A failure that became a miss: who, where and why.
  void Complain(absl::string_view event, absl::string_view phase, absl::string_view why) {
    Complain(call_limiter, event, phase, why);
  }
  void Complain(LogLimiter& limiter, absl::string_view event, absl::string_view phase,
                absl::string_view why) {
    std::uint64_t held_back = 0;
    if (!limiter.Admit(&held_back)) return;
    LogEvent(LogLevel::kWarning, event)
        .With("peer", options.peer_name)
        .With("phase", phase)
        .With("why", why)
        .With("held_back", held_back);
  }
  // Runs `task` soon; the client waits for it before it ends.
  void PostInside(Task task) {
    loop.Post([pass = Gate::Pass(gate), task = std::move(task)]() mutable { task(); });
  }
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_CALL_CONTEXT_H_
