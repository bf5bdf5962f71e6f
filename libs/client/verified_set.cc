#include "libs/client/verified_set.h"

#include "libs/base/check.h"

namespace cairn {

VerifiedSet::VerifiedSet(std::size_t slots_max) : slots_max_(slots_max) {
  CAIRN_CHECK(slots_max > 0);
}

void VerifiedSet::BeginArena(BootId arena) {
  if (arena == arena_) return;
  arena_ = arena;
  slots_.clear();
  order_.clear();
}

bool VerifiedSet::Contains(Place place, Generation generation, Checksum checksum) const {
  const auto found = slots_.find(place);
  return found != slots_.end() && found->second.generation == generation &&
         found->second.checksum == checksum;
}

std::size_t VerifiedSet::Insert(Place place, Generation generation, Checksum checksum) {
  const auto [at, is_new] = slots_.try_emplace(place);
  at->second = Content{generation, checksum};
  if (!is_new) return 0;
  order_.push_back(place);
  if (order_.size() <= slots_max_) return 0;
  slots_.erase(order_.front());
  order_.pop_front();
  return 1;
}

}  // namespace cairn
