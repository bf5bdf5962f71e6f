#include "libs/block/segment_layout.h"

#include <algorithm>

#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/units.h"

namespace cairn {

std::uint64_t TableBytesOf(std::uint64_t segment_bytes) {
  constexpr std::uint64_t kWordBytes = 8;
  const std::uint64_t words =
      std::min<std::uint64_t>(segment_bytes / kPieceBytes, limits::kSlotsPerSegmentMax);
  return RoundUp(words * kWordBytes, kPieceBytes);
}

SegmentLayout LayOutSegment(std::uint64_t segment_bytes, std::uint64_t slot_bytes) {
  CAIRN_CHECK(slot_bytes != 0);
  CAIRN_CHECK(slot_bytes % kPieceBytes == 0) << slot_bytes;
  SegmentLayout layout{.slot_bytes = slot_bytes, .table_bytes = TableBytesOf(segment_bytes)};
  if (layout.table_bytes >= segment_bytes) return layout;
  layout.slots = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      (segment_bytes - layout.table_bytes) / slot_bytes, limits::kSlotsPerSegmentMax));
  return layout;
}

std::uint64_t SlotBytesFor(std::uint64_t entry_bytes) {
  return RoundUp(std::max<std::uint64_t>(entry_bytes, 1), kPieceBytes);
}

}  // namespace cairn
