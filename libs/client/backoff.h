#ifndef CAIRN_LIBS_CLIENT_BACKOFF_H_
#define CAIRN_LIBS_CLIENT_BACKOFF_H_

#include <cstdint>

#include "absl/time/time.h"
#include "libs/base/rng.h"

namespace cairn {

// Backoff says how long to wait before the next attempt: uniform between `min` and a ceiling that
// starts at twice that and doubles with every failure up to `max` (full jitter, so that the clients
// of a node that came back do not come together). Seeded: the same seed waits the same.
class Backoff {
 public:
  Backoff(absl::Duration min, absl::Duration max, std::uint64_t seed);
  // The wait before the next attempt, after a failure or a loss.
  absl::Duration Next();
  // The session proved good: begin again from the start.
  void Reset() { ceiling_ = min_; }

 private:
  const absl::Duration min_;
  const absl::Duration max_;
  absl::Duration ceiling_;
  Rng rng_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_BACKOFF_H_
