#include "libs/index/removal_log.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "libs/base/rng.h"
#include "tests/unit/index/index_fixture.h"

namespace cairn {
namespace {

TEST(RemovalLogTest, LatestRemovalOfAKeyIsRemembered) {
  RemovalLog log(4);
  log.Add(IdOf(1), {RemovalReason::kEvicted, Instant::FromNanos(1)});
  log.Add(IdOf(1), {RemovalReason::kQuarantined, Instant::FromNanos(2)});
  EXPECT_EQ(log.Find(IdOf(1))->reason, RemovalReason::kQuarantined);
  EXPECT_FALSE(log.Find(IdOf(1, kOtherRoot)).has_value());
}

TEST(RemovalLogTest, ExactlyTheLastRemovalsAreRemembered) {
  constexpr std::size_t kMost = 7;
  RemovalLog log(kMost);
  Rng rng(1);
  std::vector<std::pair<IndexKey, Instant>> all;
  for (int step = 0; step < 2000; ++step) {
    const IndexKey key = IdOf(static_cast<std::uint32_t>(rng.Below(12)));
    all.emplace_back(key, Instant::FromNanos(step));
    log.Add(key, {RemovalReason::kEvicted, all.back().second});
    std::map<IndexKey, Instant> last;
    for (std::size_t i = all.size() - std::min(kMost, all.size()); i < all.size(); ++i) {
      last[all[i].first] = all[i].second;
    }
    for (std::uint32_t k = 0; k < 12; ++k) {
      const std::optional<Removal> found = log.Find(IdOf(k));
      ASSERT_EQ(found.has_value(), last.count(IdOf(k)) > 0) << "step " << step << " key " << k;
      ASSERT_TRUE(!found.has_value() || found->when == last[IdOf(k)]);
    }
  }
}

}  // namespace
}  // namespace cairn
