#ifndef CAIRN_LIBS_CLIENT_CLIENT_STATS_H_
#define CAIRN_LIBS_CLIENT_CLIENT_STATS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace cairn {

// What became of one key that was asked for. Everything but kHit is a miss: compute that block.
enum class KeyResult : std::uint8_t {
  kHit = 0,
  kAbsent = 1,      // the node does not have it
  kOffline = 2,     // no session (yet), or the client is stopping
  kLost = 3,        // the session ended before the answer
  kDeadline = 4,    // the answer, or its verification, did not come in time
  kRefused = 5,     // the node answered that it is at a limit or stopping
  kBusy = 6,        // a limit of ours: requests in flight, keys per message, copy jobs
  kStale = 7,       // the slot was reused while it was verified
  kCorrupt = 8,     // the bytes do not have their checksum, or not the identity's size
  kPullFailed = 9,  // the transfer failed, or the node gave the pull up
  kIncomplete = 10,  // hybrid: another part of what the resume point needs is missing
};
inline constexpr std::size_t kKeyResults = 11;

// The last word on one offered block.
enum class OfferResult : std::uint8_t {
  kStored = 0,
  kNoRoom = 1,
  kConflict = 2,   // the node holds other bytes under this key
  kMalformed = 3,  // outside the pool, or refused by the node as impossible
  kLimit = 4,      // a limit of the node
  kTorn = 5,       // what the node read did not have the checksum
  kFailed = 6,     // the transfer failed
  kDeadline = 7,
  kDropped = 8,    // pending at the node, and no longer asked for
  kOffline = 9,    // no session (yet), or the client is stopping
  kLost = 10,      // the session ended first
  kCapped = 11,    // a cap of ours: blocks or bytes on offer
};
inline constexpr std::size_t kOfferResults = 12;

// Closed label values, for logs and metrics: "hit", "absent", … and "stored", "no_room", …
const char* NameOf(KeyResult result);
const char* NameOf(OfferResult result);

// Counters since the client began, and three gauges. Read on the client's loop.
struct ClientStats {
  // sessions
  std::uint64_t sessions_opened = 0;
  std::uint64_t sessions_lost = 0;
  std::uint64_t attempts_failed = 0;
  std::uint64_t roots_refused = 0;    // the node's root was not ours: other hashing of identities
  std::uint64_t protocol_errors = 0;  // the node said what no node says; each ends a session
  std::uint64_t node_restarts = 0;    // re-handshakes that met another node boot id
  std::uint64_t arenas_changed = 0;   // re-handshakes that met another arena boot id
  // reads
  std::uint64_t acquires = 0;
  std::uint64_t keys_asked = 0;
  std::array<std::uint64_t, kKeyResults> keys{};  // by KeyResult; sums to keys_asked in the end
  std::uint64_t keys_capped = 0;                  // of kAbsent: beyond the session's pin cap
  std::uint64_t late_answers = 0;                 // came after their call had ended
  std::uint64_t pins_released = 0;
  std::uint64_t pins_dropped = 0;  // of ended sessions: there was nothing left to release
  std::uint64_t suspects_sent = 0;
  std::uint64_t sums_done = 0;     // blocks summed, in place or landed
  std::uint64_t sums_shared = 0;   // waited for a sum already running
  std::uint64_t sums_spared = 0;   // verified before in this arena, slot and generation
  std::uint64_t verified_evicted = 0;
  std::uint64_t pulls = 0;         // entries that a Pull asked for
  std::uint64_t pulls_failed = 0;  // of them, those that did not come
  std::uint64_t pulled_bytes = 0;  // by Pull, or by an ACQUIRE that wants to pull
  std::uint64_t landings_refused = 0;  // bulk that nobody waited for
  std::uint64_t landings_on_loan = 0;  // gauge
  // writes
  std::uint64_t blocks_offered = 0;
  std::array<std::uint64_t, kOfferResults> offers{};  // by OfferResult
  std::uint64_t stored_bytes = 0;
  std::uint64_t offers_on_loan = 0;         // gauge
  std::uint64_t offered_bytes_on_loan = 0;  // gauge

  std::uint64_t& of(KeyResult result) { return keys[static_cast<std::size_t>(result)]; }
  std::uint64_t of(KeyResult result) const { return keys[static_cast<std::size_t>(result)]; }
  std::uint64_t& of(OfferResult result) { return offers[static_cast<std::size_t>(result)]; }
  std::uint64_t of(OfferResult result) const { return offers[static_cast<std::size_t>(result)]; }
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_CLIENT_STATS_H_
