#ifndef CAIRN_LIBS_NODE_HOST_TIER_H_
#define CAIRN_LIBS_NODE_HOST_TIER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "libs/base/checksum.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/block/slot_pool.h"
#include "libs/evict/eviction_order.h"
#include "libs/index/index.h"
#include "libs/node/arena.h"
#include "libs/node/options.h"
#include "libs/pin/pin_table.h"

namespace cairn {

// Where a shard's news for a parent on another shard go.
class ChildMessages {
 public:
  virtual ~ChildMessages() = default;
  virtual bool IsHere(const Key& key) const = 0;  // this shard has the key's index slice
  virtual void SendAddChild(const IndexKey& parent, std::uint64_t child_depth) = 0;
  virtual void SendDropChild(const IndexKey& parent) = 0;
};

// HostTier is what one shard stores in host memory: its slice of the index, its slots, the pins on
// them and the order in which they go, kept in step with each other.
//
// Invariants:
//   1. An entry is in the index exactly while its slot is ready: found means readable.
//   2. A slot that a pin or hold covers is never given to a writer.
//   3. What is published has been summed over the slot, and the sum was the producer's.
//   4. Entries leave in one of three ways: evicted for room, evicted by an administrator,
//      quarantined. Each unlinks the entry from its parent.
// Threads: one owner shard.
class HostTier final : private SlotHolds, private SlotHoldObserver {
 public:
  struct Options {
    PinTable::Options pins;
    Index::Options index;
    TestFaults faults;
  };
  struct Stats {
    std::uint64_t evictions = 0;
    std::uint64_t segments_resized = 0;  // emptied for slots of another size
    std::uint64_t evicted_by_admin = 0;
    std::uint64_t quarantined = 0;
    std::uint64_t no_room = 0;
  };
  // Owns `segments` of `arena`, which outlives this, as does `children`.
  HostTier(const Options& options, const Arena& arena, absl::Span<const SegmentId> segments,
           ChildMessages& children);
  HostTier(const HostTier&) = delete;
  HostTier& operator=(const HostTier&) = delete;

  // A slot to fill, evicting what has to go for it. nullopt: no room.
  std::optional<FillingSlot> TakeSlot(std::uint64_t bytes, Instant now);
  // The entry's bytes in a slot.
  absl::Span<std::byte> BytesOf(Place place, std::uint64_t bytes) const;

  // Makes a filled slot an entry. `entry.place` and `.generation` are set here. DATA_LOSS: the sums
  // differ; RESOURCE_EXHAUSTED: the index is full. Either way the slot is free again.
  absl::StatusOr<const Entry*> Publish(FillingSlot slot, NewEntry entry, Checksum landed,
                                       Instant now);

  // Finds and pins under one pin what is there of `keys` (`indices`: theirs in the request).
  // Returns the pinned entries, ascending by index; the pointers are valid until the next call.
  struct Hit {
    std::uint32_t index = 0;
    const Entry* entry = nullptr;
  };
  struct PinRequest {
    SessionId session;
    PinId pin;
    RootId root;
    absl::Span<const std::uint32_t> indices;
    absl::Span<const Key> keys;
    absl::Span<const EntryKind> kinds;
    absl::Duration pin_duration;
  };
  struct Pinned {
    std::vector<Hit> hits;
    std::uint32_t capped = 0;  // found, but not pinned: a limit
  };
  Pinned Pin(const PinRequest& request, Instant now);

  // Takes an entry out so that its slot can be reused. False, and nothing done, if it is not there
  // or held.
  bool EvictByAdmin(const IndexKey& id, Instant now);
  // The bytes in `place` were found to be wrong while a hold of the caller covered it.
  void Quarantine(Place place, Instant now);

  // A child of an entry of ours came to, or left, another shard.
  void AddChild(const IndexKey& parent, std::uint64_t child_depth);
  void DropChild(const IndexKey& parent);

  // The generation that readers are told.
  Generation GenerationOf(Place place) const;

  const Index& index() const { return index_; }
  PinTable& pins() { return pins_; }
  const PinTable& pins() const { return pins_; }
  const SlotPool& pool() const { return pool_; }
  const Stats& stats() const { return stats_; }

 private:
  // SlotHolds (the pool asks), SlotHoldObserver (the pins tell).
  bool IsHeld(Place place) const override;
  void OnSlotHeld(Place place) override;
  void OnSlotLetGo(Place place) override;

  void AddSegments(absl::Span<const SegmentId> segments);
  void Unlink(const Index::Removed& removed);
  bool MakeRoom(std::uint64_t bytes, Instant now);
  void EvictForRoom(Place place, Instant now);
  void EmptySegment(SegmentId segment, Instant now);

  const Options options_;
  const Arena& arena_;
  ChildMessages& children_;
  // Only under faults.skip_generation_bump: words that no reader sees.
  std::vector<std::vector<std::atomic<std::uint64_t>>> hidden_words_;
  PinTable pins_;
  SlotPool pool_;
  Index index_;
  EvictionOrder order_;
  Stats stats_;
  std::vector<const Entry*> found_;  // scratch of Pin
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_HOST_TIER_H_
