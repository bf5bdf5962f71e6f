#include "libs/termination/termination.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>

#include "libs/base/check.h"

namespace cairn {
namespace {

int BlockedSignals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  CAIRN_CHECK(::pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0);
  return ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

Termination::Termination()
    : signal_fd_(BlockedSignals()), event_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CAIRN_CHECK(signal_fd_ >= 0);
  CAIRN_CHECK(event_fd_ >= 0);
}

Termination::~Termination() {
  ::close(signal_fd_);
  ::close(event_fd_);
}

Termination::Event Termination::Wait(absl::Duration timeout) {
  // A clock that nobody sets.
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  const absl::Duration end = absl::FromChrono(now()) + timeout;
  for (;;) {
    pollfd waited[] = {{signal_fd_, POLLIN, 0}, {event_fd_, POLLIN, 0}};
    int left_ms = -1;
    if (timeout != absl::InfiniteDuration()) {
      const absl::Duration left = std::max(end - absl::FromChrono(now()), absl::ZeroDuration());
      left_ms = static_cast<int>(absl::ToInt64Milliseconds(left + absl::Milliseconds(1)));
    }
    const int ready = ::poll(waited, 2, left_ms);
    if (ready < 0 && errno == EINTR) continue;
    CAIRN_CHECK(ready >= 0) << errno;
    if (ready == 0) return Event::kTimeout;
    std::uint64_t count = 0;
    signalfd_siginfo signal{};
    if (::read(event_fd_, &count, sizeof count) > 0) return Event::kNotified;
    if (::read(signal_fd_, &signal, sizeof signal) > 0) return Event::kSignal;
  }
}

void Termination::Notify() {
  const std::uint64_t one = 1;
  CAIRN_CHECK(::write(event_fd_, &one, sizeof one) == sizeof one) << errno;
}

}  // namespace cairn
