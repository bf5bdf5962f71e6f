#ifndef CAIRN_LIBS_NODE_OPTIONS_H_
#define CAIRN_LIBS_NODE_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "libs/base/limits.h"
#include "libs/base/units.h"

namespace cairn {

// Bugs that tests plant, to prove that the simulation finds them. Production wiring never sets one.
struct TestFaults {
  bool skip_generation_bump = false;   // a freed slot's word stays what it was
  bool publish_before_verify = false;  // an entry can be found before its bytes are there
  bool skip_put_check = false;         // what landed is published whatever its checksum
  bool release_landing_at_deadline =
      false;                            // a slot is reused while late bytes may still land in it
  bool forget_pins_of_session = false;  // a session's end leaves its pins
};

// How full the node's tables may get: limits.h's figures, lower in tests that want to meet them.
struct NodeCeilings {
  std::uint32_t acquires_in_flight = limits::kAcquiresInFlightMax;  // of a session
  std::uint32_t sends_queued = limits::kSendsQueuedMax;             // of a session
  std::uint32_t rehashes = limits::kRehashesMax;                    // of a shard, as all below
  std::uint32_t open_offers = limits::kOpenOffersMax;
  std::uint32_t pending_per_key = limits::kPendingPerKeyMax;
  std::uint32_t entries = limits::kEntriesMax;
  std::uint32_t holds = limits::kHoldsMax;
  std::uint32_t roots = limits::kRootsMax;  // of the node, as all below
  std::uint32_t admin_calls = limits::kAdminJobsMax;
};

// What a node is told by its configuration. A value that nobody changes is a constant in limits.h.
struct NodeOptions {
  // Arena.
  std::uint64_t arena_bytes = 0;  // Required: a multiple of segment_bytes.
  std::uint64_t segment_bytes = kGiB;
  std::uint32_t shards = 1;  // at most as many as segments

  // Sessions.
  std::string dev_token;            // not empty: dev mode, good for any identity
  bool serves_other_users = false;  // false: only peers with our own uid
  std::uint32_t own_uid = 0;
  std::uint32_t sessions_max = 256;
  std::uint32_t hello_pending_max = 16;
  absl::Duration hello_deadline = absl::Seconds(5);
  std::uint64_t pool_bytes_max = 64 * kGiB;  // of one session's granted pool
  std::string remote_listen;                 // "host:port"; empty: no peers from other hosts

  // Pins, loans and offers.
  absl::Duration pin_age_max = absl::Seconds(60);  // same host
  absl::Duration remote_pin_age_max = absl::Seconds(10);
  std::uint32_t pins_per_session_max = 1 << 16;  // pinned keys
  std::uint32_t offers_per_session_max = 8192;   // entries
  std::uint32_t loans_max = 4096;                // filling slots, all shards
  std::uint32_t sends_per_session_max = 32;      // DATA in flight; the rest queues
  absl::Duration fill_max = absl::Seconds(30);   // one writer may hold a key so long

  // Blocks of prompts remembered for a sink of overlaps, if there is one (libs/overlap): 9 bytes
  // each, and 24 of them for each point where prompts part.
  std::uint64_t overlap_blocks_max = 1 << 22;

  NodeCeilings ceilings;
  TestFaults faults;
};

// INVALID_ARGUMENT naming the field and its limit.
absl::Status Validate(const NodeOptions& options);

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_OPTIONS_H_
