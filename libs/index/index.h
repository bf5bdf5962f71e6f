#ifndef CAIRN_LIBS_INDEX_INDEX_H_
#define CAIRN_LIBS_INDEX_INDEX_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "libs/base/checksum.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/base/place_table.h"
#include "libs/index/index_key.h"
#include "libs/index/removal_log.h"

namespace cairn {

// Where the entry that a child names as its parent is.
enum class ParentLink : std::uint8_t {
  kNone = 0,       // no parent, or it was not present (or not shallower) when the child came
  kHere = 1,       // recorded in this index
  kElsewhere = 2,  // on another shard, which is told by AddChild and DropChild
};

// A stored block or state, complete and verified. What an ACQUIRE reads and writes comes first: it
// is one cache line.
struct Entry {
  Place place;
  Generation generation;
  std::uint64_t bytes = 0;
  Checksum checksum;
  std::uint64_t depth = 0;  // tokens
  Instant last_use;
  std::uint64_t uses = 0;
  EntryKind kind = EntryKind::kKvBlock;
  ParentLink parent_link = ParentLink::kNone;
  ProducerId producer;

  IndexKey id;
  Key parent;  // unless kNone
  std::uint32_t children_here = 0;
  std::uint32_t children_elsewhere = 0;
  Instant stored_at;
  bool is_leaf() const { return children_here == 0 && children_elsewhere == 0; }
};

struct NewEntry {
  IndexKey id;
  EntryKind kind = EntryKind::kKvBlock;
  Place place;
  Generation generation;
  std::uint64_t bytes = 0;
  Checksum checksum;
  std::uint64_t depth = 0;
  std::optional<Key> parent;
  bool parent_is_elsewhere = false;  // the caller then sends AddChild to the parent's shard
  ProducerId producer;
};

// How an offered (checksum, bytes, kind) stands to what is stored under its key.
enum class Stored : std::uint8_t {
  kAbsent = 0,
  kSame = 1,
  // Another content under the same key: one of the two is wrong. The caller re-hashes its own copy;
  // if that is sound, the newcomer is refused.
  kConflict = 2,
};

// Index of one shard: (root, key) to the entry, and who is whose parent.
//
// Invariants:
//   1. At most one entry per (root, key): the first one completed. At most one per place.
//   2. A key is found under its own root and as its own kind only.
//   3. A kHere link points at an entry that was present under the same root, with smaller depth,
//      when the child came. children_here of an entry is the number of present entries that link
//      to it; removing an entry unlinks its children, and one stored later under its key starts
//      with none.
//   4. Order of List, and everything else visible, depends on the calls only, never on hashing.
// Ownership: names places; the pool owns the slots.
// Threads:   one owner shard. Pointers to entries are valid until the next call that is not const.
// Cost:      O(1) per key; List is bounded by limits.h.
class Index {
 public:
  struct Options {
    std::uint32_t entries_max = 0;       // Required.
    std::uint32_t entries_expected = 0;  // Room made in advance.
    std::uint32_t removals_remembered = 1024;
  };
  explicit Index(const Options& options);
  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  // nullptr is a miss. Looking changes nothing: exists, match and Explain never extend a life.
  const Entry* Find(const IndexKey& id) const;
  // The entry whose bytes are in `place`.
  const Entry* AtPlace(Place place) const;
  // Finds an entry of `kind` in order to use it: its last use becomes `now`.
  const Entry* Use(const IndexKey& id, EntryKind kind, Instant now);
  // Use for each of `keys` under one root, into `out` (same size, as `kinds`); returns the hits.
  std::size_t UseAll(RootId root, absl::Span<const Key> keys, absl::Span<const EntryKind> kinds,
                     Instant now, absl::Span<const Entry*> out);

  Stored Compare(const IndexKey& id, EntryKind kind, std::uint64_t bytes, Checksum checksum) const;

  struct Inserted {
    const Entry* entry = nullptr;       // the new one; nullptr: there is one already, or no room
    std::optional<Place> became_inner;  // the parent, if this is its first child
  };
  // Adds a completed entry. Refused if the key is present (Compare says how it stands) or at
  // entries_max. `place` holds no other entry.
  Inserted Insert(const NewEntry& entry, Instant now);

  struct Removed {
    Entry entry;                       // as it was
    std::optional<Place> became_leaf;  // the parent, if this was its last child
    // entry.parent_link == kElsewhere: the caller sends DropChild to the parent's shard.
  };
  // Takes an entry out; nullopt if it is not there.
  std::optional<Removed> Remove(const IndexKey& id, RemovalReason reason, Instant now);
  std::optional<Removed> RemoveAt(Place place, RemovalReason reason, Instant now);

  // A child on another shard came or went. Counts only if the parent is present and shallower; a
  // late or lost message makes eviction less exact, nothing else. Returns the parent's place if it
  // became inner, or a leaf.
  std::optional<Place> AddChild(const IndexKey& parent, std::uint64_t child_depth);
  std::optional<Place> DropChild(const IndexKey& parent);

  // Why a key is not there, if it went recently.
  std::optional<Removal> LastRemoval(const IndexKey& id) const { return removals_.Find(id); }

  struct Listing {
    std::vector<const Entry*> entries;
    std::uint32_t next_cursor = 0;  // for the next call; 0: this was the end
  };
  // Entries from `cursor` (0: the start) on, of one root or of all. At most `entries_max` and
  // limits::kListEntriesMax; may be fewer, even none, before the end. An entry that is present from
  // the first call to the last is listed exactly once.
  Listing List(std::uint32_t cursor, std::size_t entries_max,
               std::optional<RootId> root = std::nullopt) const;

  struct RootCount {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
  };
  RootCount CountOf(RootId root) const;
  std::size_t size() const { return by_key_.size(); }

 private:
  // Entries live in blocks that never move, so growth copies nothing and pointers are plain.
  static constexpr std::uint32_t kBlockEntries = 256;
  static constexpr std::uint32_t kNoEntry = UINT32_MAX;
  struct alignas(64) Record {
    Entry entry;
    bool is_present = false;
    std::uint32_t life = 0;  // counts removals: a link to an earlier life is no link
    std::uint32_t parent_number = kNoEntry;
    std::uint32_t parent_life = 0;
  };
  using RecordBlock = std::array<Record, kBlockEntries>;

  Record& RecordOf(std::uint32_t number) {
    return (*blocks_[number / kBlockEntries])[number % kBlockEntries];
  }
  const Record& RecordOf(std::uint32_t number) const {
    return (*blocks_[number / kBlockEntries])[number % kBlockEntries];
  }
  std::uint32_t NumberOf(const IndexKey& id) const;
  const Entry* UseRecord(std::uint32_t number, EntryKind kind, Instant now);
  std::uint32_t NewNumber();
  std::optional<Place> LinkToParent(const NewEntry& entry, Record& child);
  std::optional<Removed> RemoveNumber(std::uint32_t number, RemovalReason reason, Instant now);

  const Options options_;
  absl::flat_hash_map<IndexKey, std::uint32_t> by_key_;  // to a record's number; never iterated
  std::vector<std::unique_ptr<RecordBlock>> blocks_;
  std::uint32_t numbers_used_ = 0;
  std::vector<std::uint32_t> free_numbers_;       // the last one is taken next
  PlaceTable<std::uint32_t> at_place_;            // number + 1; 0: none
  absl::flat_hash_map<RootId, RootCount> roots_;  // never iterated
  RemovalLog removals_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_INDEX_INDEX_H_
