#ifndef CAIRN_LIBS_TOKENIZER_MERGE_TABLE_H_
#define CAIRN_LIBS_TOKENIZER_MERGE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace cairn {

// MergeTable applies byte-pair merges: of all neighbours that have a merge, the pair of the lowest
// rank is joined (the leftmost of equals), again and again.
// Time: O(n log n) in the number of symbols, whatever they are.
// Threads: const after the last Add; any number of callers, each with a Scratch of its own.
class MergeTable {
 public:
  // Memory that calls one after the other reuse.
  struct Scratch {
    struct Symbol {
      std::uint32_t id;
      std::uint32_t previous;
      std::uint32_t next;
    };
    std::vector<Symbol> symbols;
    std::vector<std::uint64_t> candidates;  // a heap of rank << 32 | place
  };

  void Reserve(std::size_t merges) { merge_of_.reserve(merges); }
  // False if this pair has a merge already.
  bool Add(std::uint32_t left, std::uint32_t right, std::uint32_t rank, std::uint32_t result);

  // Joins scratch.symbols (their ids; the links are set here) and appends what is left to `out`.
  void Apply(Scratch& scratch, std::vector<std::uint32_t>& out) const;

 private:
  struct Merge {
    std::uint32_t rank;
    std::uint32_t result;
  };
  const Merge* Find(std::uint32_t left, std::uint32_t right) const;
  // Joins the symbol at `place` with the next one if their merge still has this rank.
  void Join(Scratch& scratch, std::uint32_t rank, std::uint32_t place) const;
  void Propose(Scratch& scratch, std::uint32_t place) const;

  absl::flat_hash_map<std::uint64_t, Merge> merge_of_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_TOKENIZER_MERGE_TABLE_H_
