#ifndef CAIRN_LIBS_NODE_SHARD_MESSAGES_H_
#define CAIRN_LIBS_NODE_SHARD_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "libs/base/checksum.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/index/fill_table.h"
#include "libs/index/index_key.h"
#include "libs/wire/messages.h"

// What the front (transport loop) and the shards say to each other. Each is a value that travels by
// Loop::Post, also when both live on one loop.
namespace cairn {

using ShardIndex = std::uint32_t;
using HoldId = StrongId<struct HoldIdTag, std::uint64_t>;      // of one shard
using GatherId = StrongId<struct GatherIdTag, std::uint64_t>;  // of the front: one ACQUIRE

// Which shard has a key's index slice: by bits that a chained key spreads evenly.
ShardIndex ShardOf(const Key& key, std::uint32_t shards);

// ---- read path ----
// The part of an ACQUIRE that one shard can answer.
struct AcquirePart {
  GatherId gather;
  SessionId session;
  PinId pin;  // the same on every shard
  RootId root;
  absl::Duration pin_duration;
  std::vector<std::uint32_t> indices;  // of `keys` in the request, ascending
  std::vector<Key> keys;
  std::vector<EntryKind> kinds;
};
struct AcquiredPart {
  GatherId gather;
  ShardIndex shard = 0;
  std::vector<wire::Descriptor> hits;  // pinned, ascending by index
  std::uint32_t capped = 0;            // found, but not pinned: a limit
};
// Holds for sending: the part of a PULL that one shard has.
struct HoldPart {
  SessionId session;
  RequestId request;
  Instant deadline;
  PinId pin;
  std::vector<std::uint32_t> indices;
};
struct HeldEntry {
  std::uint32_t index = 0;
  HoldId hold;  // 0: gone; there is nothing to let go
  absl::Span<const std::byte> bytes;
  Checksum checksum;
};
struct HeldPart {
  SessionId session;
  RequestId request;
  Instant deadline;
  ShardIndex shard = 0;
  std::vector<HeldEntry> entries;
};

// ---- write path ----
struct OfferItem {
  std::uint32_t index = 0;
  Key key;
  EntryKind kind = EntryKind::kKvBlock;
  std::optional<Key> parent;
  std::uint64_t bytes = 0;
  Checksum checksum;
  std::uint64_t depth = 0;
  // Where the bytes are in the session's pool, which stays mapped until every shard has answered
  // EndSession. Empty: the front lands them (OfferLanding).
  absl::Span<const std::byte> source;
};
// The part of an OFFER that one shard decides.
struct OfferPart {
  SessionId session;
  RequestId request;
  RootId root;
  ProducerId producer;
  Instant deadline;
  std::vector<OfferItem> items;
};
// A slot lent to the front: until it gives it back by LandingEnded, exactly once.
struct OfferLanding {
  FillId fill;
  absl::Span<std::byte> bytes;
};
struct OfferVerdict {
  std::uint32_t index = 0;
  wire::Verdict verdict = wire::Verdict::kWanted;
  wire::Refusal refusal = wire::Refusal::kNone;
  std::optional<OfferLanding> landing;
};
// The first verdict on each item of an OfferPart (`is_first`), or a later one on a pending entry.
struct OfferVerdicts {
  SessionId session;
  RequestId request;
  ShardIndex shard = 0;
  bool is_first = false;
  std::vector<OfferVerdict> verdicts;
};
struct OfferResults {
  SessionId session;
  RequestId request;
  std::vector<wire::StoredEntry> entries;
};
struct ConflictReport {
  Key key;
  ProducerId stored_by;
  ProducerId offered_by;
  SessionId session;
};

// What shards tell the front. Calls come on the front's loop.
class ShardReplies {
 public:
  virtual ~ShardReplies() = default;
  virtual void OnAcquiredPart(AcquiredPart part) = 0;
  virtual void OnHeldPart(HeldPart part) = 0;
  virtual void OnOfferVerdicts(OfferVerdicts verdicts) = 0;
  virtual void OnOfferResults(OfferResults results) = 0;
  virtual void OnConflict(ConflictReport report) = 0;
  // The session has nothing left on this shard that reads its pool.
  virtual void OnSessionEnded(ShardIndex shard, SessionId session) = 0;
  // The shard has stopped: nothing moves there, and it says nothing more.
  virtual void OnShardStopped(ShardIndex shard) = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_SHARD_MESSAGES_H_
