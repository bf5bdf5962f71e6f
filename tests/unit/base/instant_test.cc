#include "libs/base/instant.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(InstantTest, SumSaturatesAtInfinite) {
  const Instant late = Instant::FromNanos(INT64_MAX - 5);
  EXPECT_EQ(late + absl::Seconds(1), Instant::Infinite());
  EXPECT_EQ(Instant::FromNanos(3) + absl::InfiniteDuration(), Instant::Infinite());
  EXPECT_EQ(Instant::Infinite() - Instant::FromNanos(3), absl::InfiniteDuration());
}

TEST(InstantTest, DifferenceIsTheDuration) {
  const Instant t = Instant::FromNanos(1000);
  EXPECT_EQ((t + absl::Microseconds(2)) - t, absl::Microseconds(2));
  EXPECT_LT(t, t + absl::Nanoseconds(1));
}

}  // namespace
}  // namespace cairn
