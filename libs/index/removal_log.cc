#include "libs/index/removal_log.h"

#include "libs/base/check.h"

namespace cairn {

RemovalLog::RemovalLog(std::size_t removals_max) : removals_max_(removals_max) {
  CAIRN_CHECK(removals_max > 0);
}

void RemovalLog::Add(const IndexKey& key, const Removal& removal) {
  if (ring_.size() < removals_max_) {
    ring_.push_back(Line{key, removal});
  } else {
    const auto forgotten = latest_.find(ring_[next_].key);
    if (forgotten != latest_.end() && forgotten->second == next_) latest_.erase(forgotten);
    ring_[next_] = Line{key, removal};
  }
  latest_[key] = next_;
  next_ = (next_ + 1) % removals_max_;
}

std::optional<Removal> RemovalLog::Find(const IndexKey& key) const {
  const auto it = latest_.find(key);
  if (it == latest_.end()) return std::nullopt;
  return ring_[it->second].removal;
}

}  // namespace cairn
