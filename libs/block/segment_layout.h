#ifndef CAIRN_LIBS_BLOCK_SEGMENT_LAYOUT_H_
#define CAIRN_LIBS_BLOCK_SEGMENT_LAYOUT_H_

#include <cstdint>

#include "libs/base/ids.h"

namespace cairn {

// Where things are in an arena segment:
//
//   | word 0, word 1, … | pad | slot 0 | slot 1 | … | rest |
//   0                  table_bytes                         segment_bytes
//
// The table has room for the smallest slots that there are, so its size follows from the segment's
// alone: node and readers agree on it before the slot size is known. Slot i's word is at 8 * i.
struct SegmentLayout {
  std::uint64_t slot_bytes = 0;
  std::uint64_t table_bytes = 0;
  std::uint32_t slots = 0;  // 0: not one slot fits

  // Of the slot's first byte, in its segment.
  std::uint64_t OffsetOf(SlotId slot) const { return table_bytes + slot.value() * slot_bytes; }
};

// The bytes that a segment's table of words takes: a multiple of kPieceBytes, 0.2 % of the segment.
std::uint64_t TableBytesOf(std::uint64_t segment_bytes);

// As many slots as fit behind the table, at most limits::kSlotsPerSegmentMax. `slot_bytes` is a
// multiple of kPieceBytes and not 0.
SegmentLayout LayOutSegment(std::uint64_t segment_bytes, std::uint64_t slot_bytes);

// The slot size for entries of `entry_bytes`: the next multiple of kPieceBytes.
std::uint64_t SlotBytesFor(std::uint64_t entry_bytes);

}  // namespace cairn
#endif  // CAIRN_LIBS_BLOCK_SEGMENT_LAYOUT_H_
