#ifndef CAIRN_LIBS_EVICT_EVICTION_ORDER_H_
#define CAIRN_LIBS_EVICT_EVICTION_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "libs/base/ids.h"
#include "libs/base/place_table.h"
#include "libs/evict/recency_queue.h"

namespace cairn {

// EvictionOrder says which entry of a shard goes next when a slot of some size is needed: the least
// recently used unpinned leaf (an entry that no present entry names as parent), else the least
// recently used unpinned entry. So chains lose their tails first.
//
// A use is a hit (Touch), the start of a pin or its end: while an entry is read it is in use, and a
// pinned one is no victim. Looking (Find, exists) is no use. Uses are numbered by this object in
// the order of the calls, so the order never depends on clocks or hashing.
//
// Invariants:
//   1. Victim() is never pinned and never of another size class.
//   2. While an unpinned leaf of the class exists, Victim() is a leaf.
//   3. Among those that qualify, Victim() is the one whose last use is oldest.
//   4. VictimSegment() holds no pinned entry and none of the class that it is for; none of its
//      entries was used later than Victim(): a size takes a segment from another only where all of
//      it has been idle for longer than what the size would lose of its own.
// Cost:    Insert, Remove, Touch, Pin, Unpin and Victim O(1); SetLeaf, and what follows it for that
//          slot, O(log n); VictimSegment O(segments).
// Threads: one owner shard. Errors: a slot that is not in the order is ignored by Touch, Pin, Unpin
//          and SetLeaf (its entry may just have gone); inserting twice is a bug of ours.
class EvictionOrder {
 public:
  EvictionOrder();
  ~EvictionOrder();
  EvictionOrder(const EvictionOrder&) = delete;
  EvictionOrder& operator=(const EvictionOrder&) = delete;

  // A newly published entry: a leaf, unpinned, just used.
  void Insert(Place place, SizeClass size_class);
  void Remove(Place place);
  void Touch(Place place);
  // Its slot became held, or ceased to be (PinTable's observer).
  void Pin(Place place);
  void Unpin(Place place);
  // It got its first child, or lost its last one.
  void SetLeaf(Place place, bool is_leaf);

  // What to evict for a slot of `size_class`; nullopt: all are pinned, or there is none.
  std::optional<Place> Victim(SizeClass size_class) const;

  // The segment to empty for slots of `size_class`, rather than to evict Victim(size_class); the
  // longest idle one of those that `may_go`. nullopt: `size_class` is to help itself. For a size
  // that has no class yet: nullopt as `size_class`, and anything idle is right.
  std::optional<SegmentId> VictimSegment(std::optional<SizeClass> size_class,
                                         absl::FunctionRef<bool(SegmentId)> may_go) const;

  // How many uses, of any entry, there have been since the segment got its first entry of the size
  // that it has now.
  std::uint64_t UsesSinceSized(SegmentId segment) const;

  // Entries of the class that could be evicted now.
  std::size_t EvictableOf(SizeClass size_class) const;
  // Entries in the order, pinned ones included.
  std::size_t size() const { return size_; }

 private:
  struct Queues {
    explicit Queues(PlaceTable<RecencyNode>* nodes) : leaves(nodes), inner(nodes) {}
    RecencyQueue leaves;
    RecencyQueue inner;
  };
  // What is known of a segment's entries as a whole.
  struct SegmentUse {
    std::uint32_t entries = 0;
    std::uint32_t pinned = 0;
    SizeClass size_class;      // of its entries
    std::uint64_t newest = 0;  // the last use of any entry that it has or had
    std::uint64_t since = 0;   // the use at which it got its first entry of this size
  };
  RecencyNode* FindTracked(Place place);
  RecencyQueue& QueueOf(const RecencyNode& node);
  // To the most recent end of its queue.
  void MarkUsed(RecencyNode& node, Place place) {
    node.use = ++uses_;
    segments_[place.segment.value()].newest = uses_;
  }

  PlaceTable<RecencyNode> nodes_;
  std::vector<std::unique_ptr<Queues>> classes_;  // by SizeClass
  std::vector<SegmentUse> segments_;              // by SegmentId
  std::uint64_t uses_ = 0;
  std::size_t size_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_EVICT_EVICTION_ORDER_H_
