#ifndef CAIRN_LIBS_NODE_WRITE_PATH_H_
#define CAIRN_LIBS_NODE_WRITE_PATH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/node/lanes.h"
#include "libs/node/node_session.h"
#include "libs/node/options.h"
#include "libs/node/shard.h"
#include "libs/node/shard_messages.h"
#include "libs/node/stats.h"
#include "libs/ports/loop.h"
#include "libs/wire/messages.h"

namespace cairn {

// WritePath is the front's half of OFFER, WANT, DATA and STORED: it checks and scatters offers,
// gathers the shards' verdicts into one WANT, and lends the shards' slots to the transport.
//
// Invariants:
//   1. Every entry of an OFFER gets a verdict, and every wanted or pending one a last word, unless
//      its session ends. The first WANT of an OFFER names all its entries.
//   2. A landing that a shard lent goes back to it exactly once: unused, or when the transport says
//      that its loan has ended. Never because of a deadline while bytes may still land.
//   3. A session has at most offers_per_session_max entries without a last word.
// Deadlines are the shards' to keep: they end entries, this only passes it on.
// Threads: the front's loop.
class WritePath {
 public:
  struct Needs {
    const NodeOptions& options;
    Loop& loop;
    Lanes& lanes;
    FrontStats& stats;
    const std::vector<std::unique_ptr<Shard>>& shards;
  };
  explicit WritePath(const Needs& needs);
  ~WritePath();
  WritePath(const WritePath&) = delete;
  WritePath& operator=(const WritePath&) = delete;

  // INVALID_ARGUMENT: a breach of the protocol, which ends the session.
  absl::Status OnOffer(NodeSession& session, wire::Offer message);
  // Announced DATA: where it lands, if it was wanted.
  std::optional<Landing> OnBulk(const NodeSession& session, absl::Span<const std::byte> header,
                                std::uint64_t bytes);
  void OnBulkLanded(LandingId landing, const absl::Status& status);
  // Forgets the session's offers and gives unused landings back; those that bytes may still reach
  // come back by OnBulkLanded. The shards were told before.
  void EndSession(SessionId session);

  // `session` is null if it has ended.
  void OnOfferVerdicts(const NodeSession* session, OfferVerdicts verdicts);
  void OnOfferResults(const NodeSession* session, OfferResults results);

  // For Status: entries without a last word.
  std::uint64_t OpenOffersOf(SessionId session) const;

 private:
  using OfferKey = std::pair<SessionId, RequestId>;
  using EntryKey = std::tuple<SessionId, RequestId, std::uint32_t>;
  // An OFFER with entries that have no last word.
  struct OpenOffer {
    std::uint32_t parts_left = 0;  // shards that have not given their first verdicts
    std::size_t entries_left = 0;
    std::vector<wire::WantEntry> refused;  // by ourselves; not among the entries left
    // Until all first verdicts are there, what comes waits.
    std::vector<wire::WantEntry> first;
    std::vector<wire::WantEntry> later;
    std::vector<wire::StoredEntry> results;
  };
  struct LentSlot {
    ShardIndex shard = 0;
    FillId fill;
    absl::Span<std::byte> bytes;
  };

  wire::Refusal CheckEntry(NodeSession& session, const wire::OfferEntry& entry) const;
  OfferItem ItemOf(const NodeSession& session, std::uint32_t index,
                   const wire::OfferEntry& entry) const;
  void Flush(const NodeSession& session, RequestId request, OpenOffer& offer);
  void CountLastWords(const OfferKey& key, OpenOffer& offer, std::size_t count);
  void SendWant(const NodeSession& session, RequestId request,
                std::vector<wire::WantEntry> entries);
  void GiveBack(const LentSlot& slot, const absl::Status& status);
  // The landing of an entry that has got its last word, if it was never used.
  void GiveBackUnused(const EntryKey& entry);

  Needs needs_;
  std::map<OfferKey, OpenOffer> offers_;
  std::map<SessionId, std::size_t> open_entries_;  // absent: none
  std::map<EntryKey, LentSlot> awaited_;           // wanted, no DATA announced yet
  std::map<LandingId, LentSlot> landing_;          // on loan to the transport
  std::uint64_t last_landing_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_WRITE_PATH_H_
