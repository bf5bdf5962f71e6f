#include "libs/placement/entry_tree.h"

#include <algorithm>

#include "libs/base/check.h"

namespace cairn::placement {
namespace {

// The first element of `list` (ascending by depth) at or below `depth`.
template <class List>
auto From(List& list, std::uint32_t depth) {
  return std::lower_bound(
      list.begin(), list.end(), depth,
      [](const auto& element, std::uint32_t wanted) { return element.depth < wanted; });
}

}  // namespace

EntryTree::Entry EntryTree::OwnerOf(Entry entry, std::uint32_t depth) const {
  while (depth <= entries_[entry].shared) entry = entries_[entry].parent;
  return entry;
}

EntryTree::Entry EntryTree::Add(std::optional<Entry> matched, std::uint32_t shared,
                                std::uint32_t length) {
  Node node{.parent = 0, .shared = 0, .length = length, .states = {}, .branches = {}};
  if (matched.has_value() && shared > 0) {
    CAIRN_CHECK(*matched < entries_.size()) << "entry " << *matched;
    CAIRN_CHECK(shared <= length && shared <= LengthOf(*matched)) << shared << " of " << length;
    // The owner of the last shared node, so that many entries with one head stand side by side
    // and not on top of one another.
    node.parent = OwnerOf(*matched, shared);
    node.shared = shared;
  }
  entries_.push_back(std::move(node));
  return static_cast<Entry>(entries_.size() - 1);
}

std::uint32_t EntryTree::Deepest(World world, Entry entry, std::uint32_t depth) const {
  while (depth > 0) {
    const Node& node = entries_[entry];
    if (depth > node.shared) {
      for (auto state = From(node.states, depth + 1); state != node.states.begin();) {
        --state;
        if ((state->worlds >> world) & 1) return state->depth;
      }
    }
    depth = std::min(depth, node.shared);
    entry = node.parent;
  }
  return 0;
}

bool EntryTree::Has(World world, Entry entry, std::uint32_t depth) const {
  return depth > 0 && Deepest(world, entry, depth) == depth;
}

bool EntryTree::Put(World world, Entry entry, std::uint32_t depth) {
  CAIRN_CHECK(depth >= 1 && depth <= LengthOf(entry)) << "depth " << depth;
  if (Has(world, entry, depth)) return false;
  std::vector<State>& states = entries_[OwnerOf(entry, depth)].states;
  const auto at = From(states, depth);
  if (at != states.end() && at->depth == depth) {
    at->worlds |= 1u << world;
  } else {
    states.insert(at, State{.depth = depth, .worlds = 1u << world});
  }
  return true;
}

std::vector<std::uint32_t> EntryTree::States(World world, Entry entry, std::uint32_t above,
                                             std::uint32_t below) const {
  std::vector<std::uint32_t> depths;
  for (std::uint32_t depth = Deepest(world, entry, below); depth > above;
       depth = Deepest(world, entry, depth - 1)) {
    depths.push_back(depth);
  }
  std::reverse(depths.begin(), depths.end());
  return depths;
}

BranchPoint EntryTree::AddClaim(Entry entry, std::uint32_t depth, std::uint32_t parted_before_end) {
  CAIRN_CHECK(depth >= 1 && depth <= LengthOf(entry)) << "depth " << depth;
  std::vector<BranchPoint>& branches = entries_[OwnerOf(entry, depth)].branches;
  auto at = From(branches, depth);
  if (at == branches.end() || at->depth != depth) {
    at = branches.insert(
        at, BranchPoint{.depth = depth, .claims = 0, .parted_before_end = parted_before_end});
  }
  const BranchPoint before = *at;
  ++at->claims;
  return before;
}

std::vector<BranchPoint> EntryTree::Branches(Entry entry, std::uint32_t above,
                                             std::uint32_t below) const {
  std::vector<BranchPoint> found;
  while (below > above) {
    const Node& node = entries_[entry];
    if (below > node.shared) {
      for (auto at = From(node.branches, below + 1);
           at != node.branches.begin() && (at - 1)->depth > above;) {
        found.push_back(*--at);
      }
    }
    below = std::min(below, node.shared);
    entry = node.parent;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace cairn::placement
