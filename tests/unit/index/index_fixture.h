#ifndef CAIRN_TESTS_UNIT_INDEX_INDEX_FIXTURE_H_
#define CAIRN_TESTS_UNIT_INDEX_INDEX_FIXTURE_H_

#include <cstdint>

#include "libs/index/index_key.h"

namespace cairn {

inline constexpr RootId kRoot{1};
inline constexpr RootId kOtherRoot{2};

// Keys that differ in their last bytes only: tables must not look at a part of a key.
inline Key KeyOf(std::uint32_t number) {
  Key key;
  for (std::size_t i = 0; i < 4; ++i) {
    key.bytes[28 + i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  return key;
}
inline IndexKey IdOf(std::uint32_t number, RootId root = kRoot) {
  return IndexKey{root, KeyOf(number)};
}
inline Place SlotAt(std::uint64_t slot) {
  return Place{SegmentId(0), SlotId(static_cast<std::uint32_t>(slot))};
}

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_INDEX_INDEX_FIXTURE_H_
