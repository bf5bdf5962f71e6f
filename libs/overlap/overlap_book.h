#ifndef CAIRN_LIBS_OVERLAP_OVERLAP_BOOK_H_
#define CAIRN_LIBS_OVERLAP_OVERLAP_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/base/sha256.h"
#include "libs/overlap/overlap.h"

namespace cairn {

// OverlapBook remembers the key chains of prompts and says where a new one parts from them. What it
// knows does not depend on what is stored: a chain stays when its blocks are evicted, so that
// depths are those of the prompts, not of the cache.
//
// A radix trie of key words (the first 8 bytes of a block's key): a run of blocks that no two
// prompts part in is one node. Prompts in one family share the keys of their first kFamilyTokens
// tokens, and a family is a trie of its own.
//
//   family ──► [k0 k1 k2 k3 k4]──┬──[k5 k6 k7]          a prompt of 8 blocks, and one of 6 that
//                                └──[m5]                parted behind the fifth
//
// The least recently used ends of chains are forgotten first, of the root that has most, so that no
// tenant pushes out another's. Of each, 4 bytes are kept: enough to say "censored" when the prompt
// comes back, until something else takes their place; then it counts as new.
//
// Invariants:
//   1. An overlap is a true one: so many blocks were the first of an earlier prompt of its root.
//   2. It is the longest that is remembered, and said to be censored where the book knows that it
//      has forgotten how another prompt went on.
//   3. What is kept counts at most blocks_max: 8 bytes a block, and kNodeBlocks of them a node, of
//      which a prompt makes two at most. What is kept of forgotten ends is blocks_max more bytes.
// Threads: one owner. No clock. Cost: 4 us for a prompt of 1,000 blocks (bench_node, Overlap), and
// what comes in makes as much go.
class OverlapBook {
 public:
  // A family's prompts agree in the blocks that hold so many tokens.
  static constexpr std::uint32_t kFamilyTokens = 64;
  static constexpr std::size_t kNodeBlocks = 24;
  static constexpr std::size_t kBlocksMin = 1 << 10;
  static constexpr std::size_t kBlocksMax = 1 << 26;
  // A prompt that has parted from others so often is not followed any further: censored there.
  static constexpr std::size_t kPathNodesMax = 256;

  // `blocks_max` in [kBlocksMin, kBlocksMax]. Entries are numbered from `seed` on, so that two
  // nodes that tell the same placement service need different ones.
  OverlapBook(std::size_t blocks_max, std::uint64_t seed);
  OverlapBook(const OverlapBook&) = delete;
  OverlapBook& operator=(const OverlapBook&) = delete;

  // A prompt of `tokens` tokens, whose blocks have `keys`; the first ends[i] tokens are in blocks 0
  // to i (ascending, at most `tokens`). Tells how it agrees with earlier ones, and remembers it.
  // Without keys, or more of them than half of blocks_max: an Overlap of zeros, and nothing kept.
  Overlap Observe(const Root& root, absl::Span<const Key> keys,
                  absl::Span<const std::uint32_t> ends, std::uint32_t tokens);

  struct Size {
    std::size_t blocks = 0;  // counted as in invariant 3
    std::size_t nodes = 0;
    std::size_t families = 0;
    std::size_t roots = 0;
  };
  Size size() const;
  // For tests: CHECKs what holds between calls.
  void CheckInvariants() const;

 private:
  struct Shelf;
  struct Node {
    Shelf* shelf = nullptr;
    std::uint64_t family = 0;
    std::list<Node>::iterator parent;  // valid if has_parent
    bool has_parent = false;           // else the family's first
    // So many partings from this node may be from a prompt that was forgotten.
    std::uint8_t doubts = 0;
    std::vector<std::uint64_t> words;                                        // never empty
    absl::flat_hash_map<std::uint64_t, std::list<Node>::iterator> children;  // by first word
    std::uint64_t entry = 0;  // the latest prompt that went through all of it
    std::uint64_t entry_length = 0;
  };
  using Place = std::list<Node>::iterator;
  // What one root has.
  struct Shelf {
    Root root;
    std::list<Node> nodes;  // least recently used first; a node stands behind its children
    std::size_t cost = 0;
  };

  std::uint64_t FamilyOf(const Root& root, absl::Span<const Key> keys,
                         absl::Span<const std::uint32_t> ends);
  static std::size_t CostOf(const Node& node) { return kNodeBlocks + node.words.size(); }
  Place Add(Shelf& shelf, Node node);
  Place AddFirst(Shelf& shelf, std::uint64_t family, absl::Span<const std::uint64_t> words);
  Place GoOn(Place node, absl::Span<const std::uint64_t> words);
  void Split(Place node, std::size_t words);
  // How many words agree, from `first` on; the nodes that they are.
  std::size_t Follow(Place first, absl::Span<const std::uint64_t> words, std::vector<Place>& path,
                     bool& is_censored);
  Shelf& ShelfOf(const Root& root);
  void ForgetSome();
  void Forget(Place node);
  // The mark that is left of what stood behind `above` (of a family's first node: behind nothing).
  static std::uint64_t MarkOf(std::uint64_t family, const Node* above, std::uint64_t first_word);
  bool IsForgotten(std::uint64_t mark) const;

  const std::size_t blocks_max_;
  std::uint64_t next_entry_;
  Sha256 hasher_;
  absl::flat_hash_map<Root, Shelf*> shelves_;
  std::list<Shelf> shelf_list_;  // where they live
  absl::flat_hash_map<std::uint64_t, Place> families_;
  std::size_t cost_ = 0;
  std::vector<std::uint32_t> forgotten_;  // marks, each in its one place; 0: none
  std::vector<std::uint64_t> words_;      // of the prompt at hand
};

}  // namespace cairn
#endif  // CAIRN_LIBS_OVERLAP_OVERLAP_BOOK_H_
