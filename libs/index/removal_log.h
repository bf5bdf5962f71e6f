#ifndef CAIRN_LIBS_INDEX_REMOVAL_LOG_H_
#define CAIRN_LIBS_INDEX_REMOVAL_LOG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "libs/base/instant.h"
#include "libs/index/index_key.h"

namespace cairn {

enum class RemovalReason : std::uint8_t {
  kEvicted = 0,      // made room
  kQuarantined = 1,  // its bytes were wrong
  kAsked = 2,        // an administrator evicted it
};

struct Removal {
  RemovalReason reason = RemovalReason::kEvicted;
  Instant when;
};

// RemovalLog remembers why the last `removals_max` removed keys went, so that Explain can say more
// than "absent". The oldest is forgotten first. O(1) per operation; memory for all is bounded.
class RemovalLog {
 public:
  explicit RemovalLog(std::size_t removals_max);
  void Add(const IndexKey& key, const Removal& removal);
  // The latest removal of `key`, if still remembered.
  std::optional<Removal> Find(const IndexKey& key) const;

 private:
  struct Line {
    IndexKey key;
    Removal removal;
  };
  const std::size_t removals_max_;
  std::vector<Line> ring_;
  std::size_t next_ = 0;                               // where the next one goes
  absl::flat_hash_map<IndexKey, std::size_t> latest_;  // into ring_
};

}  // namespace cairn
#endif  // CAIRN_LIBS_INDEX_REMOVAL_LOG_H_
