#include "libs/overlap/overlap_book.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "libs/base/check.h"
#include "libs/base/rng.h"

namespace cairn {
namespace {

// How often a node that was forgotten and is back says that what parts there may have been here.
// For good would mean that nothing is learnt there any more.
constexpr std::uint8_t kDoubts = 8;

std::uint64_t WordOf(const Digest256& digest) {
  std::uint64_t word;
  std::memcpy(&word, digest.bytes.data(), sizeof word);
  return word;
}

std::uint64_t NotZero(std::uint64_t value) { return value == 0 ? 1 : value; }

}  // namespace

OverlapBook::OverlapBook(std::size_t blocks_max, std::uint64_t seed)
    : blocks_max_(blocks_max),
      next_entry_(Mix64(seed)),
      forgotten_(std::bit_floor(std::max<std::size_t>(blocks_max / 4, 1))) {
  CAIRN_CHECK(blocks_max >= kBlocksMin && blocks_max <= kBlocksMax) << blocks_max;
}

std::uint64_t OverlapBook::FamilyOf(const Root& root, absl::Span<const Key> keys,
                                    absl::Span<const std::uint32_t> ends) {
  hasher_.Update("cairn.family.v1").UpdateU8(0).Update(root.view());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    hasher_.Update(keys[i].view());
    if (ends[i] >= kFamilyTokens) break;
  }
  return NotZero(WordOf(hasher_.Finish()));
}

std::uint64_t OverlapBook::MarkOf(std::uint64_t family, const Node* above,
                                  std::uint64_t first_word) {
  return Mix64(family ^ Mix64(first_word ^ Mix64(above == nullptr ? 0 : above->words.back())));
}

bool OverlapBook::IsForgotten(std::uint64_t mark) const {
  return forgotten_[mark % forgotten_.size()] == (mark >> 32 | 1);
}

OverlapBook::Place OverlapBook::Add(Shelf& shelf, Node node) {
  node.shelf = &shelf;
  shelf.cost += CostOf(node);
  cost_ += CostOf(node);
  return shelf.nodes.insert(shelf.nodes.end(), std::move(node));
}

OverlapBook::Place OverlapBook::AddFirst(Shelf& shelf, std::uint64_t family,
                                         absl::Span<const std::uint64_t> words) {
  Node first;
  first.family = family;
  first.words.assign(words.begin(), words.end());
  first.doubts = IsForgotten(MarkOf(family, nullptr, words.front())) ? kDoubts : 0;
  return families_[family] = Add(shelf, std::move(first));
}

// The prompt goes on below `node` with what nobody has there.
OverlapBook::Place OverlapBook::GoOn(Place node, absl::Span<const std::uint64_t> words) {
  Node next;
  next.family = node->family;
  next.parent = node;
  next.has_parent = true;
  next.words.assign(words.begin(), words.end());
  next.doubts = IsForgotten(MarkOf(node->family, &*node, words.front())) ? kDoubts : 0;
  const Place added = Add(*node->shelf, std::move(next));
  node->children.emplace(words.front(), added);
  return added;
}

// Puts the first `words` of `node` into a node of their own, above it.
void OverlapBook::Split(Place node, std::size_t words) {
  CAIRN_CHECK(words > 0 && words < node->words.size()) << words;
  const auto cut = node->words.begin() + static_cast<std::ptrdiff_t>(words);
  Node upper;
  upper.family = node->family;
  upper.parent = node->parent;
  upper.has_parent = node->has_parent;
  upper.doubts = node->doubts;
  upper.words.assign(node->words.begin(), cut);
  upper.entry = node->entry;
  upper.entry_length = node->entry_length;
  node->words = std::vector<std::uint64_t>(cut, node->words.end());  // no capacity is left over
  node->shelf->cost -= words;
  cost_ -= words;
  upper.children.emplace(node->words.front(), node);
  const std::uint64_t first = upper.words.front();
  const Place above = Add(*node->shelf, std::move(upper));
  if (node->has_parent) {
    node->parent->children[first] = above;
  } else {
    families_[node->family] = above;
  }
  node->parent = above;
  node->has_parent = true;
}

void OverlapBook::Forget(Place node) {
  CAIRN_CHECK(node->children.empty()) << "a node is used after its children";
  const std::uint64_t mark =
      MarkOf(node->family, node->has_parent ? &*node->parent : nullptr, node->words.front());
  forgotten_[mark % forgotten_.size()] = static_cast<std::uint32_t>(mark >> 32 | 1);
  if (node->has_parent) {
    node->parent->children.erase(node->words.front());
  } else {
    families_.erase(node->family);
  }
  Shelf& shelf = *node->shelf;
  shelf.cost -= CostOf(*node);
  cost_ -= CostOf(*node);
  shelf.nodes.erase(node);
}

// All sessions wait for this: it does no more than what has come makes necessary, since there were
// not too many before, and each end that goes is worth kNodeBlocks and more.
void OverlapBook::ForgetSome() {
  auto largest = shelf_list_.end();
  while (cost_ > blocks_max_) {
    if (largest == shelf_list_.end()) {
      largest = std::max_element(shelf_list_.begin(), shelf_list_.end(),
                                 [](const Shelf& a, const Shelf& b) { return a.cost < b.cost; });
    }
    Forget(largest->nodes.begin());
    if (!largest->nodes.empty()) continue;
    shelves_.erase(largest->root);
    shelf_list_.erase(std::exchange(largest, shelf_list_.end()));
  }
}

// Down the trie, as far as the words agree. A prompt that ends inside a run, or parts there, splits
// it, so that every prompt through a node has gone through all of it.
std::size_t OverlapBook::Follow(Place first, absl::Span<const std::uint64_t> words,
                                std::vector<Place>& path, bool& is_censored) {
  std::size_t agreed = 0;
  for (Place at = first;;) {
    const auto [mine, its] = std::mismatch(words.begin() + static_cast<std::ptrdiff_t>(agreed),
                                           words.end(), at->words.begin(), at->words.end());
    const auto common = static_cast<std::size_t>(its - at->words.begin());
    agreed += common;
    if (common < at->words.size()) {
      Split(at, common);
      at = at->parent;
    }
    path.push_back(at);
    if (agreed == words.size()) return agreed;
    const auto next = at->children.find(words[agreed]);
    if (next != at->children.end() && path.size() < kPathNodesMax) {
      at = next->second;
      continue;
    }
    is_censored = next != at->children.end() || at->doubts > 0 ||
                  IsForgotten(MarkOf(at->family, &*at, words[agreed]));
    if (at->doubts > 0) --at->doubts;
    return agreed;
  }
}

OverlapBook::Shelf& OverlapBook::ShelfOf(const Root& root) {
  Shelf*& shelf = shelves_[root];
  if (shelf == nullptr) {
    shelf = &shelf_list_.emplace_back();
    shelf->root = root;
  }
  return *shelf;
}

Overlap OverlapBook::Observe(const Root& root, absl::Span<const Key> keys,
                             absl::Span<const std::uint32_t> ends, std::uint32_t tokens) {
  CAIRN_CHECK(keys.size() == ends.size());
  Overlap overlap;
  if (keys.empty() || keys.size() > blocks_max_ / 2) return overlap;
  words_.clear();
  for (const Key& key : keys) words_.push_back(WordOf(key));
  const absl::Span<const std::uint64_t> words(words_);
  const std::uint64_t family = FamilyOf(root, keys, ends);
  const auto known = families_.find(family);
  const bool is_known = known != families_.end();
  if (is_known && known->second->words.front() != words.front()) return overlap;  // 64 bits met
  overlap.family = family;
  overlap.request_entry = NotZero(Mix64(next_entry_++));
  overlap.request_length = tokens;

  std::vector<Place> path;
  std::size_t agreed = 0;
  if (is_known) {
    agreed = Follow(known->second, words, path, overlap.is_censored);
    overlap.entry = path.back()->entry;
    overlap.entry_length = path.back()->entry_length;
    // Those that agree may have said other ends than this one; what is told never contradicts
    // itself.
    overlap.depth = std::min<std::uint64_t>(ends[agreed - 1], overlap.entry_length);
    if (agreed < words.size() && path.size() < kPathNodesMax) {
      path.push_back(GoOn(path.back(), words.subspan(agreed)));
    }
  } else {
    overlap.is_censored = IsForgotten(MarkOf(family, nullptr, words.front()));
    path.push_back(AddFirst(ShelfOf(root), family, words));
  }
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    (*at)->entry = overlap.request_entry;
    (*at)->entry_length = tokens;
    std::list<Node>& nodes = (*at)->shelf->nodes;
    nodes.splice(nodes.end(), nodes, *at);
  }
  ForgetSome();
  return overlap;
}

OverlapBook::Size OverlapBook::size() const {
  Size size{.blocks = cost_, .families = families_.size(), .roots = shelf_list_.size()};
  for (const Shelf& shelf : shelf_list_) size.nodes += shelf.nodes.size();
  return size;
}

void OverlapBook::CheckInvariants() const {
  std::size_t cost = 0;
  for (const Shelf& shelf : shelf_list_) {
    CAIRN_CHECK(!shelf.nodes.empty() && shelves_.at(shelf.root) == &shelf);
    std::size_t shelf_cost = 0;
    for (const Node& node : shelf.nodes) {
      CAIRN_CHECK(node.shelf == &shelf && !node.words.empty());
      CAIRN_CHECK(node.words.capacity() == node.words.size()) << "memory that nobody counts";
      shelf_cost += CostOf(node);
      const Place at = node.has_parent ? node.parent->children.at(node.words.front())
                                       : families_.at(node.family);
      CAIRN_CHECK(&*at == &node);
      CAIRN_CHECK(!node.has_parent || node.parent->shelf == &shelf);
    }
    CAIRN_CHECK(shelf_cost == shelf.cost);
    cost += shelf_cost;
  }
  CAIRN_CHECK(cost == cost_ && cost_ <= blocks_max_) << cost_;
}

}  // namespace cairn
