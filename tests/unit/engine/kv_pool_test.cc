#include "libs/engine/kv_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace cairn {
namespace {

struct Memory {
  std::vector<std::byte> bytes = std::vector<std::byte>(64 * 3 + 10);
  KvPool pool{absl::MakeSpan(bytes), 64};
};

TEST(KvPoolTest, ReservationIsAllOrNothing) {
  Memory m;
  PoolReservation all, more;
  EXPECT_FALSE(m.pool.Reserve(4, &all));
  EXPECT_TRUE(m.pool.Reserve(2, &all));
  EXPECT_FALSE(m.pool.Reserve(2, &more));
  EXPECT_EQ(m.pool.available(), 1u);
}

TEST(KvPoolTest, UnusedReservationReturns) {
  Memory m;
  {
    PoolReservation some;
    ASSERT_TRUE(m.pool.Reserve(3, &some));
    const PoolBlock block = some.Take();
    EXPECT_EQ(m.pool.available(), 0u);
  }
  EXPECT_EQ(m.pool.available(), 3u);
}

TEST(KvPoolTest, BlockLivesUntilItsLastClaimAndComesBackZeroed) {
  Memory m;
  PoolReservation some;
  ASSERT_TRUE(m.pool.Reserve(3, &some));
  PoolBlock first = some.Take();
  std::memset(first.bytes().data(), 0x5a, first.bytes().size());
  PoolBlock claim = first;
  const std::byte* place = first.bytes().data();
  first = PoolBlock();
  EXPECT_EQ(m.pool.available(), 0u);  // the claim and two reserved
  claim = PoolBlock();
  EXPECT_EQ(m.pool.available(), 1u);
  PoolReservation again;
  ASSERT_TRUE(m.pool.Reserve(1, &again));
  const PoolBlock reused = again.Take();
  EXPECT_EQ(reused.bytes().data(), place);
  for (const std::byte b : reused.bytes()) EXPECT_EQ(b, std::byte{0});
}

TEST(KvPoolTest, TakingMoreThanReservedIsOurBug) {
  Memory m;
  PoolReservation none;
  EXPECT_DEATH(none.Take(), "more blocks than it had reserved");
}

}  // namespace
}  // namespace cairn
