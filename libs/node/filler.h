#ifndef CAIRN_LIBS_NODE_FILLER_H_
#define CAIRN_LIBS_NODE_FILLER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "libs/base/checksum.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/block/slot_pool.h"
#include "libs/index/fill_table.h"
#include "libs/node/host_tier.h"
#include "libs/node/options.h"
#include "libs/node/rehasher.h"
#include "libs/node/shard_messages.h"
#include "libs/pin/loan_table.h"
#include "libs/ports/copier.h"
#include "libs/ports/loop.h"

namespace cairn {

// What a Filler has to say; calls come from inside its own calls.
class FillerReplies {
 public:
  virtual ~FillerReplies() = default;
  virtual void OnVerdicts(OfferVerdicts verdicts) = 0;
  virtual void OnResult(const Offerer& offerer, wire::StoreResult result) = 0;
  virtual void OnContest(ConflictReport report) = 0;
  virtual void OnSessionIdle(SessionId session) = 0;
  virtual void OnSlotCameBack() = 0;  // a slot is on loan no more
};

// Filler is the write path of one shard: it decides about offers, has the bytes of the wanted ones
// moved into slots, checks them there and publishes.
//
// Invariants:
//   1. Every item offered gets one verdict at once; a wanted or pending one gets one last word
//   later
//      (a result, `stored` or a refusal), unless its session ends first.
//   2. Nothing is published whose fill has ended: by its deadline, its session, or a failure.
//   3. A slot stays on loan until the copy completes, or the front gives the landing back: a
//   deadline
//      or a session's end ends the call, never the loan.
//   4. A session's pool is not read after OnSessionIdle.
// Threads: one owner shard.
// Limits:  offers_max, pending per key and loans (refused with kLimit).
class Filler {
 public:
  struct Options {
    FillTable::Options fills;
    LoanTable::Options loans;
    TestFaults faults;
  };
  struct Stats {
    std::uint64_t offers = 0;
    std::uint64_t offers_known = 0;
    std::uint64_t offers_limited = 0;
    std::uint64_t stored = 0;
    std::uint64_t stored_bytes = 0;
    std::uint64_t put_torn = 0;
    std::uint64_t puts_failed = 0;
    std::uint64_t conflicts = 0;
  };
  struct Needs {
    HostTier& tier;
    Rehasher& rehasher;
    Copier& copier;
    const Loop& loop;
    FillerReplies& replies;
  };
  Filler(const Options& options, const Needs& needs);
  Filler(const Filler&) = delete;
  Filler& operator=(const Filler&) = delete;

  void Offer(OfferPart part);
  // A landing came back; `ok`: all its bytes are there.
  void LandingEnded(FillId fill, const absl::Status& status);
  // The session's offers end without a word. OnSessionIdle follows, at once or later.
  void EndSession(SessionId session);
  // Ends what is past its deadline.
  void Expire(Instant now);
  Instant NextExpiry() const { return fills_.NextExpiry(); }

  bool IsFilling(const IndexKey& key) const { return fills_.IsFilling(key); }
  // No byte moves, nobody waits.
  bool is_idle() const { return moving_.empty() && open_.empty(); }
  const Stats& stats() const { return stats_; }
  const FillTable::Stats& fill_stats() const { return fills_.stats(); }
  const LoanTable::Stats& loan_stats() const { return loans_.stats(); }

 private:
  // An item without its last word: filling, pending, or contested while our own copy is re-hashed.
  struct Open {
    OfferItem item;
    RootId root;
    ProducerId producer;
    Instant deadline;
  };
  // A slot on loan.
  struct Moving {
    Offerer offerer;
    FillingSlot slot;
    Loan loan;
    bool reads_pool = false;
    bool is_published = false;  // only under faults.publish_before_verify
  };

  OfferVerdict Decide(const Offerer& offerer, const Open& open);
  OfferVerdict Admit(const Offerer& offerer, const Open& open);
  OfferVerdict Contest(const Offerer& offerer, const Entry& entry);
  void OnContested(const Offerer& offerer, const Entry& was, bool is_sound);
  // Starts moving the bytes of a live fill. A refusal ends the fill and asks the next.
  OfferVerdict Start(FillId fill, const Offerer& offerer);
  OfferVerdict RefuseFill(FillId fill, const OfferItem& item, wire::Refusal why);

  void OnCopied(FillId fill, Checksum landed);
  void OnSummed(FillId fill, Checksum landed);
  void Finish(FillId fill, Moving moving, Checksum landed);
  absl::Status Publish(Moving& moving, const Open& open, Checksum landed);
  void FailFill(FillId fill, const Offerer& offerer, wire::StoreResult result);
  void AnswerPending(const Offerer& offerer);
  // A later verdict on an entry that was pending.
  void SayLater(const Offerer& offerer, const OfferVerdict& verdict);
  // The last word on an entry that was wanted or pending.
  void Close(const Offerer& offerer, wire::StoreResult result);
  // Asks those whose turn has come. Iterative: a turn that fails brings the next one.
  void AskInTurn(std::vector<FillTable::Turn> turns);
  void EndPoolRead(SessionId session);

  const Options options_;
  Needs needs_;
  FillTable fills_;
  LoanTable loans_;
  std::map<Offerer, Open> open_;
  std::map<FillId, Moving> moving_;
  std::map<SessionId, std::size_t> pool_reads_;  // absent: none
  std::set<SessionId> ending_;                   // OnSessionIdle is owed
  std::deque<FillTable::Turn> turns_;            // to be asked, in order
  bool is_asking_ = false;
  Stats stats_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_FILLER_H_
