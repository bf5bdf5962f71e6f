#ifndef CAIRN_LIBS_BLOCK_SLOT_POOL_H_
#define CAIRN_LIBS_BLOCK_SLOT_POOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/base/checksum.h"
#include "libs/base/ids.h"
#include "libs/block/generation.h"
#include "libs/block/segment_layout.h"

namespace cairn {

class SlotPool;

// A slot is always in exactly one state, and only the pool moves it:
//
//             Take                 Publish                Evict            not held (any more)
//     free ─────────► filling ──────────────► ready ──────────────► evicting ─────────────► free
//      ▲                 │                      │                       │        word + 1
//      └─────────────────┘                      └──────► quarantined ◄──┘
//        destroyed, or torn                    Quarantine   │   word + 1 at once
//                                                           └──── not held (any more) ───► free
enum class SlotState : std::uint8_t { kFree, kFilling, kReady, kEvicting, kQuarantined };
inline constexpr std::size_t kSlotStates = 5;

// Who may still be reading a slot: live pins and sends. The pool asks before it frees one.
class SlotHolds {
 public:
  virtual ~SlotHolds() = default;
  virtual bool IsHeld(Place place) const = 0;
};

// What a reader is told of a published slot.
struct ReadySlot {
  Place place;
  Generation generation;
};

// The two sums that must agree before an entry becomes visible.
struct SlotSums {
  Checksum offered;  // the producer's, which came with the offer
  Checksum landed;   // computed over the slot after its last byte
};

// FillingSlot owns a slot that exactly one writer fills. It becomes readable by Publish, or goes
// back to the pool when destroyed. While bytes may still arrive in the slot, whoever waits for them
// keeps this object (and its Loan): to destroy it earlier is to let late bytes land in reused
// memory. Move-only. Threads: the pool's, so a completion posts it back before it dies.
class FillingSlot {
 public:
  FillingSlot() = default;  // owns nothing
  FillingSlot(FillingSlot&& other) noexcept;
  FillingSlot& operator=(FillingSlot&& other) noexcept;
  ~FillingSlot();

  bool owns_slot() const { return pool_ != nullptr; }
  Place place() const { return place_; }

  // Verified bytes become visible. DATA_LOSS if the sums differ: nothing was visible, and the slot
  // is free again. Leaves this empty either way.
  absl::StatusOr<ReadySlot> Publish(const SlotSums& sums) &&;

 private:
  friend class SlotPool;
  FillingSlot(SlotPool* pool, Place place) : pool_(pool), place_(place) {}
  void Return();

  SlotPool* pool_ = nullptr;
  Place place_;
};

// SlotPool is the bookkeeping of one shard's arena segments: which slots exist, what state each is
// in, and its generation. It never touches entry bytes; it writes the words that readers check.
//
// Invariants:
//   1. A slot has at most one FillingSlot, and is not readable while it has one.
//   2. No slot becomes free while it is held; none is filled unless it was free.
//   3. Whatever was published under (place, generation) stays under it until the word has moved
//      on, and no two publications share a (place, generation): words only go up.
//   4. The word is stored, and fenced, before the slot can be given to a next writer.
//   5. A segment has slots of one size. It gets another size only when all of its slots are free,
//      and then every word that it uses starts above all that it ever had: 3 and 4 hold over sizes.
// Ownership: knows places only; the node owns the memory, the index the entries.
// Threads:   one owner shard.
// Errors:    no room is an answer (nullopt), never a wait. A wrong transition is a bug of ours and
//            aborts. Outlives every FillingSlot.
class SlotPool {
 public:
  struct Options {
    std::uint64_t segment_bytes = 0;  // Required. All segments are of one size.
  };
  // What there is of each state. `bytes` counts whole slots.
  struct StateCount {
    std::uint64_t slots = 0;
    std::uint64_t bytes = 0;
  };
  struct Stats {
    std::uint64_t segments = 0;
    std::uint64_t segments_unassigned = 0;  // free, of no size class yet
    std::array<StateCount, kSlotStates> states;
    const StateCount& of(SlotState state) const { return states[static_cast<std::size_t>(state)]; }
  };

  // `holds` outlives the pool.
  SlotPool(const Options& options, const SlotHolds& holds);
  ~SlotPool();
  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;

  // Gives the pool a new, zeroed segment. `segment` is new to this pool and below
  // limits::kArenaSegmentsMax; `words` lie at its start and outlive the pool.
  void AddSegment(SegmentId segment, SlotWords words);

  // A free slot for an entry of `bytes`, taking an unassigned segment if need be, or one of another
  // size whose slots are all free. nullopt: no room.
  // Then evict one slot of FindClass(bytes), or all of a segment and Unassign it, and ask again.
  std::optional<FillingSlot> Take(std::uint64_t bytes);
  // False: not even an unassigned segment could hold an entry of `bytes` (it is too large, or there
  // are limits::kSizeClassesMax other sizes).
  bool CouldTake(std::uint64_t bytes) const;
  // The class of the slots that entries of `bytes` live in; nullopt if there is none yet.
  std::optional<SizeClass> FindClass(std::uint64_t bytes) const;

  // Ready to evicting: the caller has taken the entry out of the index, so no new pin can come.
  // Free at once unless held.
  void Evict(Place place);
  // Ready or evicting to quarantined: the bytes are wrong. The word moves at once, so readers in
  // place notice; the slot is free as soon as it is not held.
  void Quarantine(Place place);
  // True if evicting the ready slots of a segment would leave it empty, unless one of them is held:
  // none is filling, evicting or quarantined. False if it is unassigned.
  bool CouldEmpty(SegmentId segment) const;
  std::vector<Place> ReadySlotsOf(SegmentId segment) const;
  std::size_t SlotsIn(SegmentId segment) const;  // 0: it is unassigned
  // Takes a segment whose slots are all free out of its class, so that it can have another size.
  void Unassign(SegmentId segment);
  // The last hold on `place` has ended. Frees an evicting or quarantined slot; else does nothing.
  void HoldsEnded(Place place);

  SlotState StateOf(Place place) const;
  Generation GenerationOf(Place place) const;
  SizeClass ClassOf(Place place) const;
  std::uint64_t OffsetOf(Place place) const;  // of the slot's first byte, in its segment
  std::uint64_t SlotBytesOf(Place place) const;

  const Stats& stats() const { return stats_; }
  // Slots of one size, by state.
  struct ClassStats {
    std::uint64_t slot_bytes = 0;
    std::uint64_t segments = 0;
    std::array<std::uint64_t, kSlotStates> slots{};
  };
  std::vector<ClassStats> ClassesStats() const;

 private:
  friend class FillingSlot;
  struct Slot {
    Generation generation = kFirstGeneration;
    SlotState state = SlotState::kFree;
  };
  struct Segment {
    bool is_added = false;
    bool is_assigned = false;
    std::uint32_t in_use = 0;                  // slots that are not free
    std::uint32_t in_transition = 0;           // of those, not ready
    Generation next_first = kFirstGeneration;  // above all words that it has had
    SizeClass size_class;
    SegmentLayout layout;
    SlotWords words;
    std::vector<Slot> slots;
  };
  struct Class {
    ClassStats stats;
    std::vector<Place> free;  // the last one is taken next
  };

  bool AssignSegment(std::uint64_t slot_bytes);
  void UnassignAnEmptyOne();
  std::optional<SizeClass> FindClassOfSlots(std::uint64_t slot_bytes) const;
  std::optional<SizeClass> FindClassWithoutSegments() const;
  SizeClass MakeClass(std::uint64_t slot_bytes);
  Segment& SegmentOf(Place place);
  const Segment& SegmentOf(Place place) const;
  const Segment& AddedSegment(SegmentId segment) const;
  void Move(Place place, SlotState from, SlotState to);
  void AdvanceWord(Place place);
  void Free(Place place);
  ReadySlot PublishFilled(Place place);
  void ReturnUnfilled(Place place);

  const Options options_;
  const SlotHolds& holds_;
  std::vector<Segment> segments_;      // by id
  std::vector<SegmentId> unassigned_;  // the last one is taken next
  std::vector<Class> classes_;         // by SizeClass
  Stats stats_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_BLOCK_SLOT_POOL_H_
