#include "libs/client/backoff.h"

#include <algorithm>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace cairn {
namespace {

constexpr absl::Duration kMin = absl::Milliseconds(50);
constexpr absl::Duration kMax = absl::Seconds(5);

TEST(BackoffTest, WaitsStayBetweenMinAndADoublingCeiling) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Backoff backoff(kMin, kMax, seed);
    absl::Duration ceiling = kMin;
    for (int i = 0; i < 20; ++i) {
      ceiling = std::min(kMax, ceiling * 2);
      const absl::Duration wait = backoff.Next();
      EXPECT_GE(wait, kMin);
      EXPECT_LE(wait, ceiling);
    }
  }
}

TEST(BackoffTest, TheJitterIsFull) {
  Backoff backoff(kMin, kMax, 1);
  for (int i = 0; i < 10; ++i) backoff.Next();
  absl::Duration least = kMax;
  absl::Duration most = kMin;
  for (int i = 0; i < 200; ++i) {
    const absl::Duration wait = backoff.Next();
    least = std::min(least, wait);
    most = std::max(most, wait);
  }
  EXPECT_LT(least, absl::Milliseconds(500));
  EXPECT_GT(most, absl::Milliseconds(4500));
}

TEST(BackoffTest, ResetBeginsAgain) {
  Backoff backoff(kMin, kMax, 1);
  for (int i = 0; i < 10; ++i) backoff.Next();
  backoff.Reset();
  EXPECT_LE(backoff.Next(), kMin * 2);
}

TEST(BackoffTest, SeedsDiffer) {
  std::set<absl::Duration> waits;
  for (std::uint64_t seed = 0; seed < 20; ++seed) waits.insert(Backoff(kMin, kMax, seed).Next());
  EXPECT_EQ(waits.size(), 20u);
  EXPECT_EQ(Backoff(kMin, kMax, 3).Next(), Backoff(kMin, kMax, 3).Next());
}

}  // namespace
}  // namespace cairn
