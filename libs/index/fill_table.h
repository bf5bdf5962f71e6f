#ifndef CAIRN_LIBS_INDEX_FILL_TABLE_H_
#define CAIRN_LIBS_INDEX_FILL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/index/index_key.h"

namespace cairn {

// One attempt to fill one key; never reused.
using FillId = StrongId<struct FillIdTag, std::uint64_t>;

// Who offered an entry: entry `index` of a session's OFFER.
struct Offerer {
  SessionId session;
  RequestId request;
  std::uint32_t index = 0;
  friend auto operator<=>(const Offerer&, const Offerer&) = default;
};

// FillTable decides whose bytes are moved when several sessions offer one key: the first to come is
// asked, later ones are pending, and the next of them is asked if the fill fails.
//
// Invariants:
//   1. At most one live fill per key: two offers of one key move its bytes once.
//   2. A fill ends once: by Finish, by Fail, at its deadline or with its writer's session. Whoever
//      moves the bytes asks IsLive before it publishes; an ended fill is never published.
//   3. An offer is in the table exactly once, filling or pending, until it is handed back to the
//      caller or its session ends; a pending one at the latest at its own deadline.
//   4. While offers of a key are pending, a fill of it is live.
// Slots and loans are not its business: a failed fill's slot stays with whoever waits for its last
// byte, and the next fill takes another one.
// Threads: one owner shard. Errors: refused at a limit. Order depends on the calls only.
class FillTable {
 public:
  struct Options {
    std::uint32_t offers_max = 0;           // Required. Filling and pending, over all keys.
    std::uint32_t pending_per_key_max = 0;  // Required.
    // A fill that has no end by then fails, so that one stuck writer does not hold a key until the
    // end of a long OFFER.
    absl::Duration fill_max = absl::InfiniteDuration();
  };
  enum class Answer : std::uint8_t { kFill, kPending, kRefused };
  struct Admission {
    Answer answer = Answer::kRefused;
    FillId fill;  // kFill: ask the offerer (WANT), then end this fill
  };
  // A pending offerer whose turn it is: ask it (WANT); its bytes are `fill`.
  struct Turn {
    FillId fill;
    IndexKey key;
    Offerer offerer;
  };
  struct Ended {
    IndexKey key;
    Offerer offerer;
    std::optional<FillId> fill;  // it was filling; nullopt: it was pending
  };
  struct Expired {
    std::vector<Ended> ended;  // to answer: not stored in time
    std::vector<Turn> turns;
    bool empty() const { return ended.empty() && turns.empty(); }
  };
  struct Stats {
    std::uint64_t filling = 0;        // now
    std::uint64_t pending = 0;        // now
    std::uint64_t pending_total = 0;  // offers whose bytes did not have to move twice
    std::uint64_t refused_total = 0;
    std::uint64_t expired_total = 0;
    std::uint64_t turns_total = 0;
  };

  explicit FillTable(const Options& options);
  FillTable(const FillTable&) = delete;
  FillTable& operator=(const FillTable&) = delete;

  // An offer of a key that is not stored. `deadline` is its OFFER's.
  Admission Offer(const IndexKey& key, const Offerer& offerer, Instant deadline, Instant now);

  // False once the fill has ended in any way: then drop the bytes.
  bool IsLive(FillId fill) const;
  bool IsFilling(const IndexKey& key) const { return by_key_.contains(key); }

  // The fill's bytes are published. Returns the pending offerers of its key, first come first: each
  // is to be answered by how it stands to what is stored now. The fill is live.
  std::vector<Offerer> Finish(FillId fill);
  // The fill came to nothing (torn, transfer failed, no room). Returns whom to ask next. The fill
  // is live; its own offerer is the caller's to answer.
  std::optional<Turn> Fail(FillId fill, Instant now);
  // Drops all that the session offered, filling or pending, without an answer. Returns whom to ask.
  std::vector<Turn> EndSession(SessionId session, Instant now);
  // Ends what is past its deadline. Pending offers go first, so that none of them gets a turn.
  Expired Expire(Instant now);
  // When Expire will next have something to do.
  Instant NextExpiry() const;

  const Stats& stats() const { return stats_; }

 private:
  using OfferNumber = std::uint64_t;  // in order of arrival; the FillId if it is the filling one
  struct OpenOffer {
    IndexKey key;
    Offerer offerer;
    Instant deadline;  // of its OFFER
    Instant ends;      // what by_end_ has: the deadline, or earlier while filling
  };
  struct KeyFill {
    OfferNumber filling = 0;
    std::deque<OfferNumber> pending;
  };

  OfferNumber Add(const IndexKey& key, const Offerer& offerer, Instant deadline, Instant ends);
  OpenOffer Take(OfferNumber number);  // out of all but by_key_
  void DropPending(OfferNumber number);
  std::optional<Turn> NextTurn(const IndexKey& key, Instant now);
  Instant FillEnd(Instant deadline, Instant now) const;

  const Options options_;
  absl::flat_hash_map<OfferNumber, OpenOffer> offers_;  // never iterated
  absl::flat_hash_map<IndexKey, KeyFill> by_key_;       // never iterated
  absl::btree_set<std::pair<SessionId, OfferNumber>> by_session_;
  absl::btree_set<std::pair<Instant, OfferNumber>> by_end_;
  OfferNumber last_number_ = 0;
  Stats stats_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_INDEX_FILL_TABLE_H_
