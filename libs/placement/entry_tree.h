#ifndef CAIRN_LIBS_PLACEMENT_ENTRY_TREE_H_
#define CAIRN_LIBS_PLACEMENT_ENTRY_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libs/placement/limits.h"
#include "libs/placement/plan_query.h"

namespace cairn::placement {

// EntryTree is the trie of stored prefixes without its tokens: each entry knows which earlier one
// it agreed with and how deep. A node of the trie is (entry, depth) of the entry that first had it,
// so that what stands at a node is found from any entry that passes through it: states, in up to
// eight worlds at once (one bit each), and branch points.
//
//   entry 0   ├────────────●────────────●  length 24          ● states
//   entry 1                └──────●  parent 0, shared 12, length 19: depths 13..19 are its own
//
// Cost: a look walks up the ancestors that hold the depths it is about; each is shorter than the
// one below it, so there are no more of them than blocks. Memory: 64 bytes an entry, 8 a state and
// 12 a branch point; entries are never taken away (the owner begins a new tree). Threads: one
// owner. Arguments are checked by the caller; wrong ones are bugs.
class EntryTree {
 public:
  using Entry = std::uint32_t;  // 0, 1, 2, ... in the order of Add: an older entry is a smaller one
  using World = std::uint32_t;
  static constexpr World kWorldsMax = limits::kExpertsMax + 1;

  // A new entry of `length` that agrees with `matched` down to `shared` (at most the shorter of the
  // two lengths), or with nothing.
  Entry Add(std::optional<Entry> matched, std::uint32_t shared, std::uint32_t length);
  std::size_t size() const { return entries_.size(); }
  // Room for so many entries at once.
  void Reserve(std::size_t entries) { entries_.reserve(entries); }
  std::uint32_t LengthOf(Entry entry) const { return entries_[entry].length; }

  // The deepest state of a world on the entry's path, at or above `depth`; 0: none.
  std::uint32_t Deepest(World world, Entry entry, std::uint32_t depth) const;
  bool Has(World world, Entry entry, std::uint32_t depth) const;
  // Puts a state there; false: that world has one already.
  bool Put(World world, Entry entry, std::uint32_t depth);
  // A world's states in (above, below], ascending.
  std::vector<std::uint32_t> States(World world, Entry entry, std::uint32_t above,
                                    std::uint32_t below) const;

  // A request ended its agreement at this node. Returns what was known of the node before: `claims`
  // is 0 for the first one, whose `parted_before_end` is remembered.
  BranchPoint AddClaim(Entry entry, std::uint32_t depth, std::uint32_t parted_before_end);
  // Branch points in (above, below], ascending.
  std::vector<BranchPoint> Branches(Entry entry, std::uint32_t above, std::uint32_t below) const;

 private:
  struct State {
    std::uint32_t depth = 0;
    std::uint32_t worlds = 0;  // bit w: in world w
  };
  struct Node {
    Entry parent = 0;
    std::uint32_t shared = 0;  // depths up to it are the parent's; 0: all are its own
    std::uint32_t length = 0;
    std::vector<State> states;          // ascending by depth
    std::vector<BranchPoint> branches;  // ascending by depth
  };
  // The entry that first had the node at `depth`, depth >= 1.
  Entry OwnerOf(Entry entry, std::uint32_t depth) const;

  std::vector<Node> entries_;
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_ENTRY_TREE_H_
