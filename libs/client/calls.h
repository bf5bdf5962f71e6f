#ifndef CAIRN_LIBS_CLIENT_CALLS_H_
#define CAIRN_LIBS_CLIENT_CALLS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/types/span.h"
#include "libs/base/checksum.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/client/arena_mapping.h"
#include "libs/client/client_stats.h"
#include "libs/client/held_pin.h"
#include "libs/wire/messages.h"

// What CacheClient is asked and what it answers.
namespace cairn {

// Memory that pulled bytes land in: as large as the entry, or larger. On loan to the client until
// `returned` is called (once, on the loop, always): a deadline ends a call, never the loan. When
// the call says hit, the loan has ended before. `returned` may not call the client.
struct PullTarget {
  absl::Span<std::byte> bytes;
  absl::AnyInvocable<void()> returned;
};

struct AcquireRequest {
  std::vector<Key> keys;         // in prompt order; KV blocks' keys, then (hybrid) state keys
  std::vector<EntryKind> kinds;  // one per key; empty: all are KV blocks
  Instant deadline;
  wire::Want want = wire::Want::kPlace;  // kPlace in a session without an arena gives hits to Pull
  std::vector<PullTarget> targets;       // kPull: one per key; else none
  bool is_hybrid = false;                // all or nothing, see AcquireAnswer::resume_depth
  std::uint64_t resume_depth_max = 0;    // hybrid: n - 1
  // Of a prompt's first Acquire only: its length, and one per key, how many of its tokens come up
  // to the end of the key's block. 0 and empty: the node learns nothing from this one.
  std::uint32_t prompt_tokens = 0;
  std::vector<std::uint32_t> ends;
};

struct KeyAnswer {
  KeyResult result = KeyResult::kAbsent;
  HitBlock block;                 // of a hit
  std::uint64_t entry_bytes = 0;  // of a hit; block.bytes is empty until a remote hit is pulled
  bool is_hit() const { return result == KeyResult::kHit; }
};

// Every key asked for is a hit or a miss; hits may have holes between them. A hit's bytes have had
// their checksum verified: in place once per arena, slot and generation, pulled always.
struct AcquireAnswer {
  std::vector<KeyAnswer> keys;      // as asked
  std::uint64_t resume_depth = 0;   // hybrid; 0: compute from the start
  std::uint64_t family = 0;         // of the prompt, if the node looks at overlaps; else 0
  std::uint32_t overlap_depth = 0;  // tokens in common with an earlier prompt
  HeldPin pin;                      // empty when there is nothing to hold
  Instant pin_ends_at;              // by age, at the earliest: be off the arena before
  std::shared_ptr<const ArenaMapping> mapping;  // of the blocks in place; hold it while reading
};
using AcquireDone = absl::AnyInvocable<void(AcquireAnswer)>;

// One entry of a PULL: what an ACQUIRE with kPlace answered about keys[index]. Ascending by index.
struct PullItem {
  std::uint32_t index = 0;
  std::uint64_t bytes = 0;
  Checksum checksum;
  PullTarget target;
};
using PullDone = absl::AnyInvocable<void(std::vector<KeyResult>)>;  // as asked

struct OfferBlock {
  Key key;
  EntryKind kind = EntryKind::kKvBlock;
  std::optional<Key> parent;          // the block before it in its chain
  absl::Span<const std::byte> bytes;  // in the pool if the client has one; the whole block,
  Checksum checksum;                  // empty slots zeroed and summed too
  std::uint64_t depth = 0;
};
// Called once per block, in any order: the last word, and the end of the loan of its bytes.
using OfferDone = absl::AnyInvocable<void(std::size_t index, OfferResult)>;

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_CALLS_H_
