#include "libs/client/backoff.h"

#include <algorithm>

#include "libs/base/check.h"

namespace cairn {

Backoff::Backoff(absl::Duration min, absl::Duration max, std::uint64_t seed)
    : min_(min), max_(max), ceiling_(min), rng_(seed) {
  CAIRN_CHECK(min > absl::ZeroDuration());
  CAIRN_CHECK(min <= max);
}

absl::Duration Backoff::Next() {
  ceiling_ = std::min(max_, ceiling_ * 2);
  const auto low = static_cast<std::uint64_t>(absl::ToInt64Nanoseconds(min_));
  const auto high = static_cast<std::uint64_t>(absl::ToInt64Nanoseconds(ceiling_));
  return absl::Nanoseconds(static_cast<std::int64_t>(rng_.Between(low, high)));
}

}  // namespace cairn
