#include "libs/overlap/overlap_book.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libs/base/check.h"
#include "libs/base/rng.h"

namespace cairn {
namespace {

std::uint64_t WordOf(const Digest256& digest) {
  std::uint64_t word;
  std::memcpy(&word, digest.bytes.data(), sizeof word);
  return word;
}

std::uint64_t NotZero(std::uint64_t value) { return value == 0 ? 1 : value; }

}  // namespace

OverlapBook::OverlapBook(std::size_t blocks_max, std::uint64_t seed)
    : blocks_max_(blocks_max), next_entry_(Mix64(seed)) {
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

OverlapBook::Place OverlapBook::Add(Node node) {
  cost_ += CostOf(node);
  return nodes_.insert(nodes_.end(), std::move(node));
}

// Puts the first `words` of `node` into a node of their own, above it.
void OverlapBook::Split(Place node, std::size_t words) {
  CAIRN_CHECK(words > 0 && words < node->words.size()) << words;
  const auto cut = static_cast<std::ptrdiff_t>(words);
  Node upper;
  upper.family = node->family;
  upper.parent = node->parent;
  upper.has_parent = node->has_parent;
  upper.words.assign(node->words.begin(), node->words.begin() + cut);
  upper.ends.assign(node->ends.begin(), node->ends.begin() + cut);
  upper.entry = node->entry;
  upper.entry_length = node->entry_length;
  node->words.erase(node->words.begin(), node->words.begin() + cut);
  node->ends.erase(node->ends.begin(), node->ends.begin() + cut);
  cost_ -= words;
  upper.children.emplace(node->words.front(), node);
  const std::uint64_t first = upper.words.front();
  const Place above = Add(std::move(upper));
  if (node->has_parent) {
    node->parent->children[first] = above;
  } else {
    families_[node->family] = above;
  }
  node->parent = above;
  node->has_parent = true;
}

// The prompt goes on below `node` with what nobody has had there.
void OverlapBook::GoOn(Place node, absl::Span<const std::uint64_t> words,
                       absl::Span<const std::uint32_t> ends) {
  Node next;
  next.family = node->family;
  next.parent = node;
  next.has_parent = true;
  next.words.assign(words.begin(), words.end());
  next.ends.assign(ends.begin(), ends.end());
  node->children.emplace(words.front(), Add(std::move(next)));
}

// A stub that is used again is a node whose continuation is as good as any.
void OverlapBook::Use(Place node) {
  if (node->is_stub) {
    stub_cost_ -= CostOf(*node);
    node->is_stub = false;
    nodes_.splice(nodes_.end(), stubs_, node);
  } else {
    nodes_.splice(nodes_.end(), nodes_, node);
  }
}

void OverlapBook::Remove(Place node) {
  CAIRN_CHECK(node->children.empty());
  cost_ -= CostOf(*node);
  if (node->has_parent) {
    node->parent->children.erase(node->words.front());
  } else {
    families_.erase(node->family);
  }
  if (node->is_stub) {
    stub_cost_ -= CostOf(*node);
    stubs_.erase(node);
  } else {
    nodes_.erase(node);
  }
}

void OverlapBook::MakeStub(Place node) {
  while (!node->children.empty()) {
    const Place child = node->children.begin()->second;
    CAIRN_CHECK(child->is_stub) << "a node is used after its children";
    Remove(child);
  }
  cost_ -= node->words.size() - 1;
  node->words.resize(1);
  node->words.shrink_to_fit();
  node->ends.resize(1);
  node->ends.shrink_to_fit();
  node->is_stub = true;
  stub_cost_ += CostOf(*node);
  stubs_.splice(stubs_.end(), nodes_, node);
}

void OverlapBook::ForgetSome() {
  while (cost_ > blocks_max_) {
    if (stub_cost_ > blocks_max_ / 4 || nodes_.empty()) {
      Remove(stubs_.begin());
    } else {
      MakeStub(nodes_.begin());
    }
  }
}

Overlap OverlapBook::Observe(const Root& root, absl::Span<const Key> keys,
                             absl::Span<const std::uint32_t> ends, std::uint32_t tokens) {
  CAIRN_CHECK(keys.size() == ends.size());
  Overlap overlap;
  if (keys.empty() || keys.size() > blocks_max_ / 2) return overlap;
  words_.clear();
  for (const Key& key : keys) words_.push_back(WordOf(key));
  const absl::Span<const std::uint64_t> words(words_);
  overlap.family = FamilyOf(root, keys, ends);
  overlap.request_entry = NotZero(Mix64(next_entry_++));
  overlap.request_length = tokens;

  // Down the trie, as far as the words agree. A prompt that ends inside a run, or parts there,
  // splits it, so that every prompt through a node has gone through all of it.
  std::vector<Place> path;
  std::size_t agreed = 0;
  const auto family = families_.find(overlap.family);
  bool is_there = family != families_.end();
  if (is_there && family->second->words.front() != words.front()) return Overlap();  // 64 bits met
  for (Place at = is_there ? family->second : nodes_.end(); is_there;) {
    const auto [mine, its] = std::mismatch(words.begin() + static_cast<std::ptrdiff_t>(agreed),
                                           words.end(), at->words.begin(), at->words.end());
    const auto common = static_cast<std::size_t>(its - at->words.begin());
    agreed += common;
    if (common < at->words.size()) {
      Split(at, common);
      at = at->parent;
    }
    overlap.entry = at->entry;
    overlap.entry_length = at->entry_length;
    overlap.depth = at->ends.back();
    overlap.is_censored = at->is_stub && agreed < words.size();
    path.push_back(at);
    is_there = false;
    if (agreed == words.size()) break;
    const auto next = at->children.find(words[agreed]);
    if (next == at->children.end()) break;
    at = next->second;
    is_there = true;
  }
  if (path.empty()) {
    Node first;
    first.family = overlap.family;
    first.words.assign(words.begin(), words.end());
    first.ends.assign(ends.begin(), ends.end());
    path.push_back(Add(std::move(first)));
    families_[overlap.family] = path.back();
  } else if (agreed < words.size()) {
    GoOn(path.back(), words.subspan(agreed), ends.subspan(agreed));
    path.push_back(path.back()->children.at(words[agreed]));
  }
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    (*at)->entry = overlap.request_entry;
    (*at)->entry_length = tokens;
    Use(*at);
  }
  ForgetSome();
  return overlap;
}

OverlapBook::Size OverlapBook::size() const {
  return {.blocks = cost_,
          .nodes = nodes_.size() + stubs_.size(),
          .stubs = stubs_.size(),
          .families = families_.size()};
}

void OverlapBook::CheckInvariants() const {
  std::size_t cost = 0, stub_cost = 0;
  for (const std::list<Node>* list : {&nodes_, &stubs_}) {
    for (const Node& node : *list) {
      CAIRN_CHECK(node.is_stub == (list == &stubs_));
      CAIRN_CHECK(!node.words.empty() && node.words.size() == node.ends.size());
      CAIRN_CHECK(!node.is_stub || (node.children.empty() && node.words.size() == 1));
      cost += CostOf(node);
      if (node.is_stub) stub_cost += CostOf(node);
      const Place at = node.has_parent ? node.parent->children.at(node.words.front())
                                       : families_.at(node.family);
      CAIRN_CHECK(&*at == &node);
      CAIRN_CHECK(!node.has_parent || node.parent->ends.back() < node.ends.front());
    }
  }
  CAIRN_CHECK(cost == cost_ && stub_cost == stub_cost_ && cost_ <= blocks_max_);
  CAIRN_CHECK(stub_cost_ <= blocks_max_ / 4 + kNodeBlocks + 1) << "stubs leave no room for chains";
}

}  // namespace cairn
