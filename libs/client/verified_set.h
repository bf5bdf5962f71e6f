#ifndef CAIRN_LIBS_CLIENT_VERIFIED_SET_H_
#define CAIRN_LIBS_CLIENT_VERIFIED_SET_H_

#include <cstddef>
#include <deque>

#include "absl/container/flat_hash_map.h"
#include "libs/base/checksum.h"
#include "libs/base/ids.h"

namespace cairn {

// VerifiedSet remembers which slots' contents had the checksum that the node named, so that each
// generation is summed once. Of one arena at a time. At `slots_max` the slot that was first
// remembered is forgotten (and summed again): deterministic, and no worse than slower.
class VerifiedSet {
 public:
  explicit VerifiedSet(std::size_t slots_max);
  // Forgets everything unless it is about this arena already.
  void BeginArena(BootId arena);
  bool Contains(Place place, Generation generation, Checksum checksum) const;
  // Returns how many slots were forgotten for it (0 or 1).
  std::size_t Insert(Place place, Generation generation, Checksum checksum);
  BootId arena() const { return arena_; }
  std::size_t size() const { return slots_.size(); }

 private:
  struct Content {
    Generation generation;
    Checksum checksum;
  };
  const std::size_t slots_max_;
  BootId arena_;
  absl::flat_hash_map<Place, Content> slots_;
  std::deque<Place> order_;  // each slot once, the oldest first
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_VERIFIED_SET_H_
