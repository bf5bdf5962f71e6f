#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <optional>
#include <set>
#include <vector>

#include "libs/base/rng.h"
#include "libs/index/fill_table.h"
#include "tests/unit/index/index_fixture.h"

// Random offers, ends and time on a FillTable, beside a model that is one list of all open offers
// in order of arrival, searched from end to end.
namespace cairn {
namespace {

constexpr std::uint32_t kKeys = 4;
constexpr FillTable::Options kOptions{
    .offers_max = 20, .pending_per_key_max = 3, .fill_max = absl::Seconds(4)};

class FillTablePropertyTest : public testing::TestWithParam<int> {
 protected:
  struct Open {
    IndexKey key;
    Offerer offerer;
    Instant deadline;
    Instant ends;
    std::optional<FillId> fill;
  };
  using Opens = std::list<Open>;

  Opens::iterator FillOf(const IndexKey& key) {
    return std::find_if(open_.begin(), open_.end(),
                        [&](const Open& o) { return o.key == key && o.fill.has_value(); });
  }
  std::size_t PendingOf(const IndexKey& key) const {
    return static_cast<std::size_t>(std::count_if(open_.begin(), open_.end(), [&](const Open& o) {
      return o.key == key && !o.fill.has_value();
    }));
  }

  void Offer() {
    const IndexKey key = AnyKey();
    const Offerer offerer{AnySession(), RequestId(next_request_++), 0};
    const Instant deadline = now_ + absl::Milliseconds(static_cast<std::int64_t>(rng_.Below(9000)));
    const bool is_first = FillOf(key) == open_.end();
    const bool is_refused = open_.size() == kOptions.offers_max ||
                            (!is_first && PendingOf(key) == kOptions.pending_per_key_max);
    const FillTable::Admission admission = fills_.Offer(key, offerer, deadline, now_);
    ASSERT_EQ(admission.answer == FillTable::Answer::kRefused, is_refused);
    if (is_refused) return;
    ASSERT_EQ(admission.answer == FillTable::Answer::kFill, is_first);
    Open open{key, offerer, deadline, deadline, std::nullopt};
    if (is_first) Begin(open, admission.fill);
    open_.push_back(open);
  }

  // The fill of `key` ended without bytes: what the table must say, and does.
  void ExpectTurn(const IndexKey& key, const std::optional<FillTable::Turn>& turn) {
    const auto next =
        std::find_if(open_.begin(), open_.end(), [&](const Open& o) { return o.key == key; });
    ASSERT_EQ(turn.has_value(), next != open_.end());
    if (!turn.has_value()) return;
    EXPECT_EQ(turn->key, key);
    EXPECT_EQ(turn->offerer, next->offerer);
    Begin(*next, turn->fill);
  }

  void EndOneFill() {
    const auto it = FillOf(AnyKey());
    if (it == open_.end()) return;
    const Open ended = *it;
    open_.erase(it);
    dead_.insert(*ended.fill);
    if (rng_.Chance(1, 2)) {
      ExpectTurn(ended.key, fills_.Fail(*ended.fill, now_));
      return;
    }
    std::vector<Offerer> expected;
    for (const Open& o : open_) {
      if (o.key == ended.key) expected.push_back(o.offerer);
    }
    EXPECT_EQ(fills_.Finish(*ended.fill), expected);
    std::erase_if(open_, [&](const Open& o) { return o.key == ended.key; });
  }

  void EndSession() {
    const SessionId session = AnySession();
    std::vector<Open> filling;
    for (const Open& o : open_) {
      if (o.offerer.session == session && o.fill.has_value()) filling.push_back(o);
    }
    std::sort(filling.begin(), filling.end(),
              [](const Open& a, const Open& b) { return *a.fill < *b.fill; });
    std::erase_if(open_, [&](const Open& o) { return o.offerer.session == session; });
    ExpectTurns(filling, fills_.EndSession(session, now_));
  }

  void Expire() {
    std::vector<Open> pending;
    std::vector<Open> filling;
    for (const Open& o : open_) {
      if (o.ends <= now_) (o.fill.has_value() ? filling : pending).push_back(o);
    }
    std::erase_if(open_, [&](const Open& o) { return o.ends <= now_; });
    const auto by_end = [](const Open& a, const Open& b) {
      return std::pair(a.ends, a.offerer.request) < std::pair(b.ends, b.offerer.request);
    };
    std::sort(pending.begin(), pending.end(), by_end);
    std::sort(filling.begin(), filling.end(), by_end);
    const FillTable::Expired expired = fills_.Expire(now_);
    ASSERT_EQ(expired.ended.size(), pending.size() + filling.size());
    for (std::size_t i = 0; i < expired.ended.size(); ++i) {
      const Open& o = i < pending.size() ? pending[i] : filling[i - pending.size()];
      EXPECT_EQ(expired.ended[i].offerer, o.offerer);
      EXPECT_EQ(expired.ended[i].fill, o.fill);
    }
    ExpectTurns(filling, expired.turns);
  }

  void ExpectTurns(const std::vector<Open>& ended, const std::vector<FillTable::Turn>& turns) {
    std::size_t used = 0;
    for (const Open& o : ended) {
      dead_.insert(*o.fill);
      const bool has_next = used < turns.size() && turns[used].key == o.key;
      ExpectTurn(o.key, has_next ? std::optional(turns[used]) : std::nullopt);
      used += has_next ? 1 : 0;
    }
    EXPECT_EQ(used, turns.size());
  }

  void Step() {
    now_ = now_ + absl::Milliseconds(static_cast<std::int64_t>(rng_.Below(400)));
    switch (rng_.Below(8)) {
      case 0:
        return EndOneFill();
      case 1:
        if (rng_.Chance(1, 3)) EndSession();
        return;
      case 2:
        return Expire();
      default:
        return Offer();
    }
  }

  void CompareWithModel() {
    Instant next = Instant::Infinite();
    for (const Open& o : open_) {
      next = std::min(next, o.ends);
      EXPECT_TRUE(!o.fill.has_value() || fills_.IsLive(*o.fill));
    }
    EXPECT_EQ(fills_.NextExpiry(), next);
    for (const FillId fill : dead_) EXPECT_FALSE(fills_.IsLive(fill));
    std::size_t filling = 0;
    for (std::uint32_t i = 0; i < kKeys; ++i) {
      const bool is_filling = FillOf(IdOf(i)) != open_.end();
      EXPECT_EQ(fills_.IsFilling(IdOf(i)), is_filling);
      EXPECT_TRUE(is_filling || PendingOf(IdOf(i)) == 0);
      filling += is_filling ? 1 : 0;
    }
    EXPECT_EQ(fills_.stats().filling, filling);
    EXPECT_EQ(fills_.stats().pending, open_.size() - filling);
  }

  Rng rng_{static_cast<std::uint64_t>(GetParam())};

 private:
  void Begin(Open& open, FillId fill) {
    EXPECT_EQ(dead_.count(fill), 0u) << "a fill's id was given twice";
    open.fill = fill;
    open.ends = std::min(open.deadline, now_ + kOptions.fill_max);
  }
  IndexKey AnyKey() { return IdOf(static_cast<std::uint32_t>(rng_.Below(kKeys))); }
  SessionId AnySession() { return SessionId(rng_.Below(4)); }

  FillTable fills_{kOptions};
  Opens open_;
  std::set<FillId> dead_;
  std::uint64_t next_request_ = 1;
  Instant now_ = Instant::FromNanos(0);
};

TEST_P(FillTablePropertyTest, TableIsTheModelAfterEveryStep) {
  for (int step = 0; step < 1000 && !HasFailure(); ++step) {
    Step();
    CompareWithModel();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FillTablePropertyTest, testing::Range(1, 21));

}  // namespace
}  // namespace cairn
