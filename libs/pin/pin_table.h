#ifndef CAIRN_LIBS_PIN_PIN_TABLE_H_
#define CAIRN_LIBS_PIN_PIN_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/base/place_table.h"

namespace cairn {

class PinTable;

// Told when a slot gets its first hold and when it loses its last one. Called from inside the
// PinTable's calls; may ask IsHeld, and must not call anything else of the table.
class SlotHoldObserver {
 public:
  virtual ~SlotHoldObserver() = default;
  virtual void OnSlotHeld(Place place) = 0;
  virtual void OnSlotLetGo(Place place) = 0;
};

// One key of an ACQUIRE that hit: its index among the keys asked for, and where its bytes are.
struct PinnedKey {
  std::uint32_t index = 0;
  Place place;
};

// SlotHold keeps one slot from being reused while it is sent or re-hashed: until the transport's or
// the copier's completion, whatever becomes of the pin or session that asked for it. Move-only; its
// destruction ends it. Threads: the table's.
class SlotHold {
 public:
  SlotHold() = default;  // holds nothing
  SlotHold(SlotHold&& other) noexcept
      : table_(std::exchange(other.table_, nullptr)), place_(other.place_) {}
  SlotHold& operator=(SlotHold&& other) noexcept;
  ~SlotHold();
  Place place() const { return place_; }

 private:
  friend class PinTable;
  SlotHold(PinTable* table, Place place) : table_(table), place_(place) {}
  void End();
  PinTable* table_ = nullptr;
  Place place_;
};

// PinTable knows which slots may not be reused yet, and on whose behalf.
//
// A pin is what one ACQUIRE got: a set of slots, granted to a session under an id that the caller
// chose (the same id on every shard). It ends by Release, by the end of its session or by age,
// whichever comes first. A hold is the node's own and ends by its completion only.
//
// Invariants:
//   1. IsHeld(place) is true exactly while a live pin or hold covers it.
//   2. No pin outlives `age_max` after its grant, counted by the `now` that callers pass, once
//      Expire has run. Correctness never rests on it: readers check generations.
//   3. Of one session, at most `keys_per_session_max` keys are pinned; of all, at most `keys_max`.
//   4. A pin is seen and ended by its own session only.
// Ownership: knows places only; the pool owns the slots. The observer outlives the table.
// Threads:   one owner shard.
// Errors:    a key beyond a limit is not pinned, so the caller answers a miss. An ended pin is no
//            error: messages can repeat and cross. Never blocks.
class PinTable {
 public:
  struct Options {
    std::uint32_t pins_max = 0;              // Required. Pins at a time, over all sessions.
    std::uint32_t keys_max = 0;              // Required. Pinned keys, over all sessions.
    std::uint32_t keys_per_session_max = 0;  // Required. What WELCOME told the session.
    std::uint32_t holds_max = 0;             // Required. Holds at a time.
    absl::Duration age_max;  // Required. A reader moves long requests off before it.
  };
  struct Stats {
    std::uint64_t pins = 0;         // now
    std::uint64_t pinned_keys = 0;  // now; a slot pinned twice counts twice
    std::uint64_t holds = 0;        // now
    std::uint64_t held_slots = 0;   // now; each once
    std::uint64_t granted_total = 0;
    std::uint64_t released_total = 0;
    std::uint64_t aged_total = 0;           // ended by age: a reader forgot, or is slow
    std::uint64_t session_ended_total = 0;  // ended with their session
    std::uint64_t keys_refused_total = 0;   // hits answered as misses because of a limit
  };

  PinTable(const Options& options, SlotHoldObserver& observer);
  ~PinTable();
  PinTable(const PinTable&) = delete;
  PinTable& operator=(const PinTable&) = delete;

  // How many more keys `session` may pin now: ask before looking keys up.
  std::size_t Room(SessionId session) const;

  // Pins the first of `keys` (ascending by index) as far as limits allow, and returns how many. 0:
  // there is no pin, nothing to release. The pin ends after `duration`, at most after age_max. `id`
  // is not live in this session.
  std::size_t Grant(SessionId session, PinId id, absl::Span<const PinnedKey> keys, Instant now,
                    absl::Duration duration = absl::InfiniteDuration());

  // Ends a pin early. No effect on one that has ended.
  void Release(SessionId session, PinId id);
  // Takes keys off a pin: those of `indices` (ascending) that it has. A pin without keys ends.
  void ReleaseKeys(SessionId session, PinId id, absl::Span<const std::uint32_t> indices);
  // Ends all of the session's pins; costs as much as it has.
  void EndSession(SessionId session);
  // Ends the pins whose time is over, soonest first; returns how many.
  std::size_t Expire(Instant now);
  // When Expire will next have something to do; Infinite() if there is no pin.
  Instant NextExpiry() const;

  // Where the key at `index` of a live pin is; nullopt if the pin ended or did not get that key.
  std::optional<Place> Find(SessionId session, PinId id, std::uint32_t index) const;

  // A hold on a slot. RESOURCE_EXHAUSTED at holds_max.
  absl::StatusOr<SlotHold> Hold(Place place);

  bool IsHeld(Place place) const {
    const std::uint32_t* count = counts_.Find(place);
    return count != nullptr && *count != 0;
  }

  const Stats& stats() const { return stats_; }

 private:
  friend class SlotHold;
  using Id = std::pair<SessionId, PinId>;
  struct Pin {
    Instant ends;
    std::vector<PinnedKey> keys;  // ascending by index
  };
  using Pins = absl::btree_map<Id, Pin>;

  void AddHold(Place place);
  void DropHold(Place place);
  void EndKeys(SessionId session, std::size_t count);
  // Ends the pin at `pin` and returns what follows it.
  Pins::iterator End(Pins::iterator pin);

  const Options options_;
  SlotHoldObserver& observer_;
  Pins pins_;  // in order, so that a session's pins lie together and end in a fixed order
  absl::btree_set<std::pair<Instant, Id>> by_end_;
  absl::flat_hash_map<SessionId, std::size_t> session_keys_;  // absent: none
  PlaceTable<std::uint32_t> counts_;                          // pins and holds on each slot
  Stats stats_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PIN_PIN_TABLE_H_
