#include "libs/evict/eviction_order.h"

#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mark.h"

namespace cairn {

EvictionOrder::EvictionOrder() = default;
EvictionOrder::~EvictionOrder() = default;

RecencyNode* EvictionOrder::FindTracked(Place place) {
  RecencyNode* node = nodes_.Find(place);
  return node != nullptr && node->is_tracked ? node : nullptr;
}

RecencyQueue& EvictionOrder::QueueOf(const RecencyNode& node) {
  Queues& queues = *classes_[node.size_class.value()];
  return node.is_leaf ? queues.leaves : queues.inner;
}

void EvictionOrder::Insert(Place place, SizeClass size_class) {
  CAIRN_CHECK(size_class.value() < limits::kSizeClassesMax) << size_class.value();
  while (classes_.size() <= size_class.value()) {
    classes_.push_back(std::make_unique<Queues>(&nodes_));
  }
  RecencyNode& node = nodes_.At(place);
  CAIRN_CHECK(!node.is_tracked) << "slot " << place.slot.value() << " inserted twice";
  node = RecencyNode{.size_class = size_class, .is_tracked = true, .is_leaf = true};
  if (segments_.size() <= place.segment.value()) segments_.resize(place.segment.value() + 1);
  SegmentUse& segment = segments_[place.segment.value()];
  const bool is_new = segment.newest == 0 || segment.size_class != size_class;
  if (segment.entries == 0 && is_new) segment.since = uses_;
  segment.size_class = size_class;
  ++segment.entries;
  MarkUsed(node, place);
  QueueOf(node).Insert(place);
  ++size_;
}

void EvictionOrder::Remove(Place place) {
  RecencyNode* node = FindTracked(place);
  CAIRN_CHECK(node != nullptr) << "slot " << place.slot.value() << " is not in the order";
  SegmentUse& segment = segments_[place.segment.value()];
  if (node->is_pinned) {
    --segment.pinned;
  } else {
    QueueOf(*node).Remove(place);
  }
  node->is_tracked = false;
  --segment.entries;
  --size_;
}

void EvictionOrder::Touch(Place place) {
  RecencyNode* node = FindTracked(place);
  if (node == nullptr || node->is_pinned) return;  // a pin's end is the later use
  RecencyQueue& queue = QueueOf(*node);
  queue.Remove(place);
  MarkUsed(*node, place);
  queue.Insert(place);
}

void EvictionOrder::Pin(Place place) {
  RecencyNode* node = FindTracked(place);
  if (node == nullptr) return;
  CAIRN_CHECK(!node->is_pinned) << "slot " << place.slot.value() << " pinned twice";
  QueueOf(*node).Remove(place);
  node->is_pinned = true;
  ++segments_[place.segment.value()].pinned;
}

void EvictionOrder::Unpin(Place place) {
  RecencyNode* node = FindTracked(place);
  if (node == nullptr) return;
  CAIRN_CHECK(node->is_pinned) << "slot " << place.slot.value() << " is not pinned";
  node->is_pinned = false;
  --segments_[place.segment.value()].pinned;
  MarkUsed(*node, place);
  QueueOf(*node).Insert(place);
}

void EvictionOrder::SetLeaf(Place place, bool is_leaf) {
  RecencyNode* node = FindTracked(place);
  if (node == nullptr || node->is_leaf == is_leaf) return;
  if (node->is_pinned) {
    node->is_leaf = is_leaf;
    return;
  }
  QueueOf(*node).Remove(place);
  node->is_leaf = is_leaf;
  QueueOf(*node).Insert(place);
}

std::optional<Place> EvictionOrder::Victim(SizeClass size_class) const {
  if (size_class.value() >= classes_.size()) return std::nullopt;
  const Queues& queues = *classes_[size_class.value()];
  if (const std::optional<Place> leaf = queues.leaves.Oldest()) return leaf;
  const std::optional<Place> inner = queues.inner.Oldest();
  if (inner.has_value()) CAIRN_COVERED("inner_entry_evicted");
  return inner;
}

std::optional<SegmentId> EvictionOrder::VictimSegment(
    std::optional<SizeClass> size_class, absl::FunctionRef<bool(SegmentId)> may_go) const {
  std::uint64_t oldest = uses_ + 1;
  if (size_class.has_value()) {
    if (const std::optional<Place> own = Victim(*size_class)) oldest = nodes_.Find(*own)->use;
  }
  std::optional<SegmentId> found;
  for (std::uint32_t i = 0; i < segments_.size(); ++i) {
    const SegmentUse& segment = segments_[i];
    if (segment.entries == 0 || segment.pinned > 0 || segment.newest >= oldest) continue;
    if (segment.size_class == size_class || !may_go(SegmentId(i))) continue;
    oldest = segment.newest;
    found = SegmentId(i);
  }
  return found;
}

std::uint64_t EvictionOrder::UsesSinceSized(SegmentId segment) const {
  return segment.value() < segments_.size() ? uses_ - segments_[segment.value()].since : 0;
}

std::size_t EvictionOrder::EvictableOf(SizeClass size_class) const {
  if (size_class.value() >= classes_.size()) return 0;
  const Queues& queues = *classes_[size_class.value()];
  return queues.leaves.size() + queues.inner.size();
}

}  // namespace cairn
