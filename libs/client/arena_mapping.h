#ifndef CAIRN_LIBS_CLIENT_ARENA_MAPPING_H_
#define CAIRN_LIBS_CLIENT_ARENA_MAPPING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "libs/base/checksum.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/block/generation.h"
#include "libs/ports/memory.h"
#include "libs/wire/local_messages.h"
#include "libs/wire/messages.h"

namespace cairn {

// One hit: bytes to read, and what proves afterwards that they were the right ones.
// In place, the memory stays mapped while the answer's ArenaMapping is held, but its content may
// change at any time: nothing read may leave the step before StillValid said so after the step's
// last read. Pulled, the bytes are the caller's landing memory, and always valid.
struct HitBlock {
  absl::Span<const std::byte> bytes;
  bool in_place = false;
  SlotWordsView words;    // in place: of the segment
  SlotId slot;            // in place
  Generation generation;  // in place
  Checksum checksum;
  std::uint64_t depth = 0;
};

// True if what was read of `hit`, before `check` was made, was right.
inline bool StillValid(const ReadCheck& check, const HitBlock& hit) {
  return !hit.in_place || check.Unchanged(hit.words, hit.slot, hit.generation);
}
// True if what was read of all `hits` until now was right. Any thread; a few ns a block.
inline bool StillValid(absl::Span<const HitBlock> hits) {
  const ReadCheck check;
  for (const HitBlock& hit : hits) {
    if (!StillValid(check, hit)) return false;
  }
  return true;
}

// ArenaMapping is a node's arena as one session saw it, mapped read-only. It stays mapped until its
// last holder drops it, whatever becomes of the session or the node.
// Threads: built on the loop, then immutable but for the loss; any thread.
class ArenaMapping {
 public:
  explicit ArenaMapping(BootId arena_boot) : arena_boot_(arena_boot) {}
  ArenaMapping(const ArenaMapping&) = delete;
  ArenaMapping& operator=(const ArenaMapping&) = delete;

  // Maps one more segment. INVALID_ARGUMENT if the memory is not what `segment` says, if the words'
  // table is impossible, or the segment is here already; else what MemorySource says.
  absl::Status Add(const wire::LocalSegment& segment, MemoryGrant grant, MemorySource& memory);
  std::size_t segments() const { return count_; }
  // The memory of all of them.
  std::vector<absl::Span<const std::byte>> pieces() const;
  BootId arena_boot() const { return arena_boot_; }

  // The bytes that `descriptor` speaks of; nullopt if they are not wholly among the slots of a
  // segment that is mapped here. Hostile input.
  std::optional<HitBlock> Locate(const wire::Descriptor& descriptor) const;

  // When the session ended whose pins protected what is read here; nullopt while it lives. After
  // `remap_grace` from then no request should be here: copy off (and check), or drop the blocks.
  std::optional<Instant> lost_at() const;
  // The client's, once.
  void MarkLost(Instant now);
  // Called by MarkLost, on its thread (the loop), which this is to be called from, too.
  void SetOnLost(absl::AnyInvocable<void()> on_lost) const { on_lost_ = std::move(on_lost); }

 private:
  struct Segment {
    std::unique_ptr<PeerMemory> memory;
    std::uint64_t words_bytes = 0;
  };
  static constexpr std::int64_t kLive = INT64_MIN;

  const BootId arena_boot_;
  std::vector<Segment> by_id_;  // memory == nullptr: not mapped
  std::size_t count_ = 0;
  std::atomic<std::int64_t> lost_nanos_{kLive};
  mutable absl::AnyInvocable<void()> on_lost_;  // the loop's
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_ARENA_MAPPING_H_
