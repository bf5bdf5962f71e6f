#ifndef CAIRN_LIBS_OVERLAP_OVERLAP_H_
#define CAIRN_LIBS_OVERLAP_OVERLAP_H_

#include <cstdint>

namespace cairn {

// How far a prompt agrees with those that came before it: what placement learns from
// (proto/cairn/placement/v1, Observation). Depths and lengths are tokens from the prompt's start.
struct Overlap {
  std::uint64_t family = 0;  // of prompts that begin alike, under one root; not 0
  // The entry that this prompt becomes: a number of its own, not 0.
  std::uint64_t request_entry = 0;
  std::uint64_t request_length = 0;
  // The latest prompt that agrees with it as far as any does. 0: none.
  std::uint64_t entry = 0;
  std::uint64_t entry_length = 0;
  std::uint64_t depth = 0;   // in whole blocks; 0: nothing in common
  bool is_censored = false;  // a lower bound: what came behind it is no longer known
  bool was_served = false;   // the cache had all that agrees; the node fills this in

  friend bool operator==(const Overlap&, const Overlap&) = default;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_OVERLAP_OVERLAP_H_
