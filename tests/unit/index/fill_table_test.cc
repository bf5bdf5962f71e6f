#include "libs/index/fill_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/index/index_fixture.h"

namespace cairn {
namespace {

constexpr SessionId kAda{1};
constexpr SessionId kBob{2};
constexpr SessionId kCid{3};

Instant At(std::int64_t seconds) { return Instant::FromNanos(0) + absl::Seconds(seconds); }
Offerer From(SessionId session, std::uint64_t request = 1) {
  return Offerer{session, RequestId(request), 0};
}

class FillTableTest : public testing::Test {
 protected:
  FillTable::Admission Offer(SessionId session, std::int64_t deadline_s = 100,
                             std::uint32_t key = 1) {
    return fills_.Offer(IdOf(key), From(session), At(deadline_s), At(0));
  }
  FillTable fills_{{.offers_max = 6, .pending_per_key_max = 2, .fill_max = absl::Seconds(50)}};
};

TEST_F(FillTableTest, FirstOfferIsAskedLaterOnesWait) {
  EXPECT_EQ(Offer(kAda).answer, FillTable::Answer::kFill);
  EXPECT_EQ(Offer(kBob).answer, FillTable::Answer::kPending);
  EXPECT_EQ(Offer(kBob, 100, 2).answer, FillTable::Answer::kFill) << "another key";
  EXPECT_TRUE(fills_.IsFilling(IdOf(1)));
  EXPECT_FALSE(fills_.IsFilling(IdOf(1, kOtherRoot)));
}

TEST_F(FillTableTest, FinishAnswersThePendingOnesInOrder) {
  const FillId fill = Offer(kAda).fill;
  Offer(kCid);
  Offer(kBob);
  EXPECT_EQ(fills_.Finish(fill), (std::vector<Offerer>{From(kCid), From(kBob)}));
  EXPECT_FALSE(fills_.IsLive(fill));
  EXPECT_FALSE(fills_.IsFilling(IdOf(1)));
  EXPECT_EQ(fills_.NextExpiry(), Instant::Infinite()) << "nothing is left";
}

TEST_F(FillTableTest, FailedFillGivesTheTurnToTheNext) {
  const FillId first = Offer(kAda).fill;
  Offer(kBob);
  const FillTable::Turn turn = *fills_.Fail(first, At(1));
  EXPECT_EQ(turn.offerer, From(kBob));
  EXPECT_EQ(turn.key, IdOf(1));
  EXPECT_FALSE(fills_.IsLive(first)) << "late bytes of the first are dropped";
  EXPECT_TRUE(fills_.IsLive(turn.fill));
  EXPECT_FALSE(fills_.Fail(turn.fill, At(2)).has_value());
  EXPECT_FALSE(fills_.IsFilling(IdOf(1)));
}

TEST_F(FillTableTest, FillFailsAtItsDeadlineAndTheNextIsAsked) {
  const FillId first = Offer(kAda, 10).fill;
  Offer(kBob, 30);
  EXPECT_EQ(fills_.NextExpiry(), At(10));
  EXPECT_TRUE(fills_.Expire(At(9)).empty());
  const FillTable::Expired expired = fills_.Expire(At(10));
  ASSERT_EQ(expired.ended.size(), 1u);
  EXPECT_EQ(expired.ended[0].offerer, From(kAda));
  EXPECT_EQ(expired.ended[0].fill, first);
  ASSERT_EQ(expired.turns.size(), 1u);
  EXPECT_EQ(expired.turns[0].offerer, From(kBob));
  EXPECT_FALSE(fills_.IsLive(first));
}

TEST_F(FillTableTest, StuckFillFailsBeforeALongOfferDoes) {
  Offer(kAda, 1000);
  EXPECT_EQ(fills_.NextExpiry(), At(50)) << "fill_max";
}

TEST_F(FillTableTest, PendingOfferIsAnsweredByItsOwnDeadline) {
  const FillId fill = Offer(kAda, 40).fill;
  Offer(kBob, 5);
  const FillTable::Expired expired = fills_.Expire(At(5));
  ASSERT_EQ(expired.ended.size(), 1u);
  EXPECT_EQ(expired.ended[0].offerer, From(kBob));
  EXPECT_FALSE(expired.ended[0].fill.has_value());
  EXPECT_TRUE(expired.turns.empty());
  EXPECT_TRUE(fills_.Finish(fill).empty());
}

TEST_F(FillTableTest, OfferThatExpiresTogetherWithTheFillIsNotAsked) {
  Offer(kAda, 10);
  Offer(kBob, 10);
  Offer(kCid, 60);
  const FillTable::Expired expired = fills_.Expire(At(10));
  EXPECT_EQ(expired.ended.size(), 2u);
  ASSERT_EQ(expired.turns.size(), 1u);
  EXPECT_EQ(expired.turns[0].offerer, From(kCid));
}

TEST_F(FillTableTest, TurnHasItsOwnTimeToFill) {
  const FillId first = Offer(kAda, 10).fill;
  Offer(kBob, 500);
  fills_.Fail(first, At(8));
  EXPECT_EQ(fills_.NextExpiry(), At(58));
}

TEST_F(FillTableTest, EndOfTheWritersSessionAsksTheSecond) {
  const FillId first = Offer(kAda).fill;
  Offer(kAda);  // the same worker, in another request
  Offer(kBob);
  const std::vector<FillTable::Turn> turns = fills_.EndSession(kAda, At(1));
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_EQ(turns[0].offerer, From(kBob)) << "a session that is gone is not asked";
  EXPECT_FALSE(fills_.IsLive(first));
}

TEST_F(FillTableTest, EndOfAPendingSessionLeavesTheFillAlone) {
  const FillId fill = Offer(kAda).fill;
  Offer(kBob);
  EXPECT_TRUE(fills_.EndSession(kBob, At(1)).empty());
  EXPECT_TRUE(fills_.Finish(fill).empty());
}

TEST_F(FillTableTest, LimitsRefuse) {
  Offer(kAda);
  Offer(kBob);
  Offer(kBob);
  EXPECT_EQ(Offer(kCid).answer, FillTable::Answer::kRefused) << "pending_per_key_max";
  for (std::uint32_t key = 2; key < 5; ++key) Offer(kAda, 100, key);
  EXPECT_EQ(Offer(kCid, 100, 9).answer, FillTable::Answer::kRefused) << "offers_max";
  EXPECT_EQ(fills_.stats().refused_total, 2u);
  EXPECT_EQ(fills_.stats().filling, 4u);
  EXPECT_EQ(fills_.stats().pending, 2u);
}

using FillTableDeathTest = FillTableTest;

TEST_F(FillTableDeathTest, EndingAFillTwiceIsABug) {
  const FillId fill = Offer(kAda).fill;
  Offer(kBob);
  fills_.Finish(fill);
  EXPECT_DEATH(fills_.Finish(fill), "IsLive");
  EXPECT_DEATH(fills_.Fail(fill, At(1)), "IsLive");
}

}  // namespace
}  // namespace cairn
