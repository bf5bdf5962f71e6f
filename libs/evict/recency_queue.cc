#include "libs/evict/recency_queue.h"

#include "libs/base/check.h"

namespace cairn {

void RecencyQueue::Insert(Place place) {
  RecencyNode& node = Node(place);
  CAIRN_CHECK(!node.is_queued) << "slot " << place.slot.value() << " is queued already";
  node.is_queued = true;
  ++size_;
  if (!last_.has_value() || IsOlder(*last_, place)) {
    Append(place);
  } else {
    Push(place);
  }
}

void RecencyQueue::Remove(Place place) {
  RecencyNode& node = Node(place);
  CAIRN_CHECK(node.is_queued) << "slot " << place.slot.value() << " is not queued";
  node.is_queued = false;
  --size_;
  if (node.is_in_heap) {
    Pull(place);
  } else {
    Unlink(place);
  }
}

std::optional<Place> RecencyQueue::Oldest() const {
  if (heap_.empty()) return first_;
  if (!first_.has_value() || IsOlder(heap_.front(), *first_)) return heap_.front();
  return first_;
}

// A list's end points to itself.
void RecencyQueue::Append(Place place) {
  RecencyNode& node = Node(place);
  node.is_in_heap = false;
  node.next = place;
  node.previous = last_.value_or(place);
  if (last_.has_value()) {
    Node(*last_).next = place;
  } else {
    first_ = place;
  }
  last_ = place;
}

void RecencyQueue::Unlink(Place place) {
  const RecencyNode& node = Node(place);
  const bool is_first = node.previous == place;
  const bool is_last = node.next == place;
  if (is_first && is_last) {
    first_.reset();
    last_.reset();
  } else if (is_first) {
    first_ = node.next;
    Node(*first_).previous = *first_;
  } else if (is_last) {
    last_ = node.previous;
    Node(*last_).next = *last_;
  } else {
    Node(node.previous).next = node.next;
    Node(node.next).previous = node.previous;
  }
}

void RecencyQueue::Push(Place place) {
  Node(place).is_in_heap = true;
  heap_.push_back(place);
  Node(place).heap_index = static_cast<std::uint32_t>(heap_.size() - 1);
  Settle(heap_.size() - 1);
}

void RecencyQueue::Pull(Place place) {
  const std::size_t index = Node(place).heap_index;
  const Place moved = heap_.back();
  heap_.pop_back();
  if (index == heap_.size()) return;
  Put(index, moved);
  Settle(index);
}

void RecencyQueue::Put(std::size_t index, Place place) {
  heap_[index] = place;
  Node(place).heap_index = static_cast<std::uint32_t>(index);
}

// Moves the slot at `index` up or down to where it belongs.
void RecencyQueue::Settle(std::size_t index) {
  const Place place = heap_[index];
  while (index > 0 && IsOlder(place, heap_[(index - 1) / 2])) {
    Put(index, heap_[(index - 1) / 2]);
    index = (index - 1) / 2;
  }
  for (std::size_t child = 2 * index + 1; child < heap_.size(); child = 2 * index + 1) {
    if (child + 1 < heap_.size() && IsOlder(heap_[child + 1], heap_[child])) ++child;
    if (!IsOlder(heap_[child], place)) break;
    Put(index, heap_[child]);
    index = child;
  }
  Put(index, place);
}

}  // namespace cairn
