#ifndef CAIRN_TESTS_UNIT_BLOCK_POOL_FIXTURE_H_
#define CAIRN_TESTS_UNIT_BLOCK_POOL_FIXTURE_H_

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "libs/base/units.h"
#include "libs/block/slot_pool.h"

namespace cairn {

inline constexpr std::uint64_t kSlotsOf4KiB = 16;
inline constexpr std::uint64_t kFixtureSegmentBytes = (kSlotsOf4KiB + 1) * 4 * kKiB;

class NoHolds final : public SlotHolds {
 public:
  bool IsHeld(Place) const override { return false; }
};

// A pool of `kSegments` small segments whose words are plain memory, and holds that tests set.
class PoolFixture : public testing::Test, public SlotHolds {
 protected:
  static constexpr std::uint32_t kSegments = 2;
  PoolFixture() : pool_({.segment_bytes = kFixtureSegmentBytes}, *this) {
    for (std::uint32_t i = 0; i < kSegments; ++i) {
      words_[i] = std::vector<std::atomic<std::uint64_t>>(kFixtureSegmentBytes / 8);
      pool_.AddSegment(SegmentId(i), SlotWords(absl::MakeSpan(words_[i])));
    }
  }
  bool IsHeld(Place place) const override {
    const auto it = holds_.find(place);
    return it != holds_.end() && it->second > 0;
  }

  SlotPool& pool() { return pool_; }
  // A ready slot.
  Place Fill(std::uint64_t bytes) {
    FillingSlot slot = *pool_.Take(bytes);
    return std::move(slot).Publish({.offered = Checksum(1), .landed = Checksum(1)})->place;
  }
  void Hold(Place place) { ++holds_[place]; }
  void LetGo(Place place) {
    if (--holds_[place] == 0) pool_.HoldsEnded(place);
  }
  Generation WordOf(Place place) const {
    return Generation(words_[place.segment.value()][place.slot.value()].load());
  }

 private:
  std::array<std::vector<std::atomic<std::uint64_t>>, kSegments> words_;
  std::map<Place, int> holds_;
  SlotPool pool_;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_BLOCK_POOL_FIXTURE_H_
