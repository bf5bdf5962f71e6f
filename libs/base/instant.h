#ifndef CAIRN_LIBS_BASE_INSTANT_H_
#define CAIRN_LIBS_BASE_INSTANT_H_

#include <compare>
#include <cstdint>

#include "absl/time/time.h"

namespace cairn {

// Instant is a point on this process's monotonic clock, in nanoseconds from an arbitrary origin. It
// never travels: on the wire deadlines are remaining microseconds. Pure code takes it as an
// argument; only event loops (libs/ports/loop.h) read a clock.
class Instant {
 public:
  constexpr Instant() = default;
  static constexpr Instant FromNanos(std::int64_t nanos) { return Instant(nanos); }
  static constexpr Instant Infinite() { return Instant(INT64_MAX); }
  constexpr std::int64_t nanos() const { return nanos_; }

  // Saturates at Infinite() and never goes below the origin's minimum.
  friend Instant operator+(Instant t, absl::Duration d) {
    if (t.nanos_ == INT64_MAX || d == absl::InfiniteDuration()) return Infinite();
    const std::int64_t step = absl::ToInt64Nanoseconds(d);
    if (step > 0 && t.nanos_ > INT64_MAX - step) return Infinite();
    return Instant(t.nanos_ + step);
  }
  friend Instant operator-(Instant t, absl::Duration d) { return t + (-d); }
  friend absl::Duration operator-(Instant a, Instant b) {
    if (a.nanos_ == INT64_MAX) return absl::InfiniteDuration();
    return absl::Nanoseconds(a.nanos_ - b.nanos_);
  }
  friend constexpr auto operator<=>(Instant, Instant) = default;

 private:
  constexpr explicit Instant(std::int64_t nanos) : nanos_(nanos) {}
  std::int64_t nanos_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_INSTANT_H_
