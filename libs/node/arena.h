#ifndef CAIRN_LIBS_NODE_ARENA_H_
#define CAIRN_LIBS_NODE_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/block/generation.h"
#include "libs/ports/memory.h"

namespace cairn {

// Arena is the node's own memory: equal segments, each a table of slot words and then slots
// (libs/block/segment_layout.h), which other processes may map read-only. One arena belongs to one
// trust domain; there is one domain so far, so a node has one arena.
//
// Invariants:
//   1. Segments are zeroed, populated and sealed before a grant of one leaves this process.
//   2. Segments come and go with the arena: a place names the same bytes for the arena's whole
//   life,
//      and `boot` names the arena.
// Ownership: owns the memory. Slots are the pool's business (libs/block).
// Threads:   const calls from any thread.
class Arena {
 public:
  struct Options {
    std::uint64_t arena_bytes = 0;    // Required: a multiple of segment_bytes.
    std::uint64_t segment_bytes = 0;  // Required.
  };
  // RESOURCE_EXHAUSTED as MemorySource::Create says it.
  static absl::StatusOr<std::unique_ptr<Arena>> Create(const Options& options,
                                                       MemorySource& memory);

  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  BootId boot() const { return boot_; }
  std::uint32_t segments() const { return static_cast<std::uint32_t>(segments_.size()); }
  std::uint64_t segment_bytes() const { return options_.segment_bytes; }
  // The table of words at the start of each segment; slots come after it.
  std::uint64_t words_bytes() const;
  std::uint64_t page_bytes() const;  // the smallest that backs any segment

  absl::Span<std::byte> bytes(SegmentId segment) const {
    return segments_[segment.value()]->bytes();
  }
  SlotWords words(SegmentId segment) const { return SlotWords::Over(bytes(segment)); }
  absl::StatusOr<MemoryGrant> Grant(SegmentId segment) const;

 private:
  explicit Arena(const Options& options);

  const Options options_;
  const BootId boot_;
  std::vector<std::unique_ptr<OwnedMemory>> segments_;
};

// 128 random bits.
BootId NewBootId();

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_ARENA_H_
