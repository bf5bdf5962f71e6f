#ifndef CAIRN_LIBS_ENGINE_BLOCK_CACHE_H_
#define CAIRN_LIBS_ENGINE_BLOCK_CACHE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "libs/base/checksum.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/engine/sequence.h"
#include "libs/ports/device.h"

namespace cairn {

// Keeps blocks that are read in place from being reused, and their mapping from going away.
// Dropping the last reference releases both. Threads: any.
class ArenaLease {
 public:
  virtual ~ArenaLease() = default;
  // When a request should have moved off the arena: well before its pins end by age, or before the
  // mapping of a lost session goes.
  virtual Instant leave_by() const = 0;
  // When the pins have ended for certain: what is in place is then anyone's guess (a stopped
  // process wakes up behind it). Never before leave_by().
  virtual Instant void_at() const = 0;
};

// The arena that hits lie in, as long as it is held.
class ArenaView : public SharedArena {
 public:
  // Its session has ended: nobody should begin to read here.
  virtual bool is_lost() const = 0;
};

// The blocks of a prompt that may be hits.
struct WantedBlocks {
  std::vector<Key> keys;  // in prompt order
  // Of a request's first lookup: the prompt's length, and one per key, how many of its tokens come
  // up to the block's end. 0 and empty in later ones.
  std::uint32_t prompt_tokens = 0;
  std::vector<std::uint32_t> ends;
};

struct AcquiredBlocks {
  struct Hit {
    std::uint32_t index = 0;  // into the keys asked for
    ArenaBlock block;         // its checksum was verified
  };
  std::vector<Hit> hits;
  std::shared_ptr<ArenaLease> lease;       // null without hits
  std::shared_ptr<const ArenaView> arena;  // of the hits; the same object for the same arena
  std::uint64_t family = 0;                // of prompts that begin like this one; 0: not known
  std::uint32_t overlap_depth = 0;         // tokens in common with an earlier prompt, stored or not
};

struct OfferedBlock {
  Key key;
  bool has_parent = false;
  Key parent;
  std::uint64_t depth = 0;
  absl::Span<const std::byte> bytes;
  Checksum checksum;
};

// BlockCache is what the engine sees of the node: a place that may have blocks and may take some.
// Every failure is a miss or a lost offer; nothing here fails. `ClientBlockCache` is the real one.
// Threads: called from the engine's thread; callbacks come from any thread, each exactly once.
class BlockCache {
 public:
  virtual ~BlockCache() = default;
  virtual void Acquire(WantedBlocks wanted, absl::AnyInvocable<void(AcquiredBlocks)> done) = 0;
  // False while nobody would take an offer: what is kept back then may be offered later. Any
  // thread.
  virtual bool takes_offers() const = 0;
  // Who to tell that an arena that hits came from is lost: any thread. Null: nobody, from when this
  // returns.
  virtual void SetOnArenaLost(absl::AnyInvocable<void()> tell) = 0;
  // The bytes stay as they are until `done`.
  virtual void Offer(std::vector<OfferedBlock> blocks, absl::AnyInvocable<void()> done) = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_ENGINE_BLOCK_CACHE_H_
