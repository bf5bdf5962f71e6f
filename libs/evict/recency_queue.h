#ifndef CAIRN_LIBS_EVICT_RECENCY_QUEUE_H_
#define CAIRN_LIBS_EVICT_RECENCY_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libs/base/ids.h"
#include "libs/base/place_table.h"

namespace cairn {

// What the eviction order knows of one slot. `use` numbers uses from 1 up, each once; the fields
// below it belong to the RecencyQueue that the slot is in.
struct RecencyNode {
  std::uint64_t use = 0;
  Place previous;
  Place next;
  std::uint32_t heap_index = 0;
  SizeClass size_class;
  bool is_tracked = false;
  bool is_pinned = false;
  bool is_leaf = false;
  bool is_queued = false;
  bool is_in_heap = false;
};

// RecencyQueue is a set of slots that knows which was used least recently.
//
// Nearly every slot enters as the most recently used of all, so the queue is a linked list in order
// of use: O(1) in and out. The few that enter with an older use (a parent that became a leaf when
// its last child went) wait in a heap beside it: O(log n). The oldest is the older of both heads.
//
// Invariants: the list is ascending by `use`; the heap is a binary min-heap by `use`; each queued
// slot is in exactly one of them. Nodes are the caller's and stay put while queued.
class RecencyQueue {
 public:
  // `nodes` outlives the queue and has a node for every place given to it.
  explicit RecencyQueue(PlaceTable<RecencyNode>* nodes) : nodes_(nodes) {}

  void Insert(Place place);
  void Remove(Place place);
  std::optional<Place> Oldest() const;
  std::size_t size() const { return size_; }

 private:
  RecencyNode& Node(Place place) const { return *nodes_->Find(place); }
  bool IsOlder(Place a, Place b) const { return Node(a).use < Node(b).use; }
  void Append(Place place);
  void Unlink(Place place);
  void Push(Place place);
  void Pull(Place place);
  void Put(std::size_t index, Place place);
  void Settle(std::size_t index);

  PlaceTable<RecencyNode>* nodes_;
  std::optional<Place> first_;  // of the list
  std::optional<Place> last_;
  std::vector<Place> heap_;
  std::size_t size_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_EVICT_RECENCY_QUEUE_H_
