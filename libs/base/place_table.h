#ifndef CAIRN_LIBS_BASE_PLACE_TABLE_H_
#define CAIRN_LIBS_BASE_PLACE_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "libs/base/check.h"
#include "libs/base/ids.h"
#include "libs/base/limits.h"

namespace cairn {

// PlaceTable holds one small value per slot of an arena, found in two array reads. Places are dense
// (slots are taken in ascending order), so it costs little more than the values.
//
// Only places that our own pool made may be used: one beyond limits.h is a bug of ours.
template <class T>
class PlaceTable {
 public:
  // The value of `place`, default-made at first use. The reference is valid until the next At.
  T& At(Place place) {
    const std::size_t segment = place.segment.value();
    const std::size_t slot = place.slot.value();
    if (segment >= segments_.size()) {
      CAIRN_CHECK(segment < limits::kArenaSegmentsMax) << segment;
      segments_.resize(segment + 1);
    }
    std::vector<T>& slots = segments_[segment];
    if (slot >= slots.size()) {
      CAIRN_CHECK(slot < limits::kSlotsPerSegmentMax) << slot;
      slots.resize(
          std::min<std::size_t>(std::max(slot + 1, slots.size() * 2), limits::kSlotsPerSegmentMax));
    }
    return slots[slot];
  }

  // The value of `place`, or nullptr where At never made one near it.
  const T* Find(Place place) const {
    if (place.segment.value() >= segments_.size()) return nullptr;
    const std::vector<T>& slots = segments_[place.segment.value()];
    return place.slot.value() < slots.size() ? &slots[place.slot.value()] : nullptr;
  }
  T* Find(Place place) { return const_cast<T*>(static_cast<const PlaceTable*>(this)->Find(place)); }

 private:
  std::vector<std::vector<T>> segments_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_PLACE_TABLE_H_
