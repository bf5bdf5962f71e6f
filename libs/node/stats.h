#ifndef CAIRN_LIBS_NODE_STATS_H_
#define CAIRN_LIBS_NODE_STATS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "libs/block/slot_pool.h"

namespace cairn {

// Counters of one shard. Plain numbers, owned by the shard's thread; others get copies.
struct ShardStats {
  // Read path.
  std::uint64_t hits = 0;  // keys answered from the index (before the cut)
  std::uint64_t misses = 0;
  std::uint64_t keys_refused = 0;  // hits answered as misses at a limit of the shard
  std::uint64_t pins = 0;          // pinned keys now
  std::uint64_t pins_aged = 0;
  std::uint64_t holds = 0;  // sends and re-hashes that read a slot now
  std::uint64_t stale = 0;  // a PULL or SUSPECT of a pin that had ended
  std::uint64_t suspects = 0;
  std::uint64_t suspects_refuted = 0;  // our own re-hash found the bytes sound
  std::uint64_t quarantined = 0;
  // Write path.
  std::uint64_t offers = 0;        // entries
  std::uint64_t offers_known = 0;  // answered `stored` at once
  std::uint64_t stored = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t put_torn = 0;
  std::uint64_t puts_failed = 0;  // the transfer failed, the deadline passed, the session ended
  std::uint64_t conflicts = 0;    // a newcomer's bytes differ from sound stored ones
  std::uint64_t no_room = 0;
  std::uint64_t offers_limited = 0;
  std::uint64_t pending = 0;        // offers that wait for another's bytes, now
  std::uint64_t pending_asked = 0;  // of those, asked since the first one failed
  std::uint64_t loans = 0;          // filling slots, now
  std::uint64_t loans_overdue = 0;  // of those, whose call has ended; the bytes are still moving
  // Contents.
  std::uint64_t entries = 0;
  std::uint64_t evictions = 0;
  std::uint64_t segments_resized = 0;  // emptied for slots of another size
  std::uint64_t evicted_by_admin = 0;
  std::uint64_t verified = 0;  // entries re-hashed by Verify
  std::uint64_t segments = 0;
  std::uint64_t segments_unassigned = 0;
  std::array<SlotPool::StateCount, kSlotStates> slots;

  ShardStats& operator+=(const ShardStats& other);
};

// Why a peer got no session.
enum class HelloRefusal : std::uint8_t {
  kBadVersion,
  kBadToken,
  kBadIdentity,
  kFull,
  kStopping,
  kOtherUser,
  kBadPool,
  kDeadline,
  kMalformed,
  kTransport,
};
inline constexpr std::size_t kHelloRefusals = 10;
const char* HelloRefusalName(HelloRefusal why);  // "bad_token": a label

// Counters of the front (sessions and messages).
struct FrontStats {
  std::uint64_t sessions = 0;  // now
  std::uint64_t sessions_opened = 0;
  std::uint64_t sessions_ended = 0;
  std::uint64_t hello_pending = 0;  // now
  std::array<std::uint64_t, kHelloRefusals> hello_refused{};
  std::uint64_t messages = 0;
  std::uint64_t messages_malformed = 0;
  std::uint64_t acquires = 0;
  std::uint64_t acquires_late = 0;  // their deadline had passed when all shards had answered
  std::uint64_t acquires_refused = 0;
  std::uint64_t keys_capped = 0;
  std::uint64_t overlaps = 0;        // prompts whose overlap was told
  std::uint64_t overlap_blocks = 0;  // remembered for that, now
  std::uint64_t pulls = 0;           // entries
  std::uint64_t pulls_failed = 0;
  std::uint64_t pulled_bytes = 0;
  std::uint64_t sends = 0;  // DATA in flight, now
  std::uint64_t sends_queued = 0;
  std::uint64_t offers_refused = 0;    // entries refused before a shard saw them
  std::uint64_t offers_overdue = 0;    // entries whose OFFER's deadline came first
  std::uint64_t landings = 0;          // lent to a transport, now
  std::uint64_t landings_refused = 0;  // bulk that nobody had asked for
  std::uint64_t tokens = 0;            // live OpenSession tokens
};

struct NodeStats {
  FrontStats front;
  ShardStats shards;  // the sum
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_STATS_H_
