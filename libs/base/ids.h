#ifndef CAIRN_LIBS_BASE_IDS_H_
#define CAIRN_LIBS_BASE_IDS_H_

#include <cstdint>
#include <utility>

#include "libs/base/sha256.h"
#include "libs/base/strong_id.h"

// Ids that more than one library speaks of. Ids of one library live in its own header.
namespace cairn {

using Key = Digest256;  // names a stored block or state (keys.md)
using Root =
    Digest256;  // identity, namespace, salt and block size; the first half of every index key

using SegmentId = StrongId<struct SegmentIdTag, std::uint32_t>;    // an arena segment
using SlotId = StrongId<struct SlotIdTag, std::uint32_t>;          // a slot within its segment
using Generation = StrongId<struct GenerationTag, std::uint64_t>;  // a slot's word; never goes down
using SessionId = StrongId<struct SessionIdTag, std::uint64_t>;    // node-local; never on the wire
using PinId = StrongId<struct PinIdTag, std::uint64_t>;            // unique within a session
using RequestId =
    StrongId<struct RequestIdTag, std::uint64_t>;  // chosen by the caller of a message
using EndpointId = StrongId<struct EndpointIdTag, std::uint64_t>;  // a transport's connection

using RootId = StrongId<struct RootIdTag, std::uint32_t>;  // a node's number for a Root; not reused
using ProducerId =
    StrongId<struct ProducerIdTag, std::uint32_t>;  // a node's number for a producer's name
using SizeClass =
    StrongId<struct SizeClassTag, std::uint32_t>;  // the slots of one size, in one shard

// Where an entry's bytes are in a node's arena.
struct Place {
  SegmentId segment;
  SlotId slot;
  friend auto operator<=>(const Place&, const Place&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Place& p) {
    return H::combine(std::move(h), p.segment, p.slot);
  }
};

// A random 128-bit id of one start of a process or of one mapping of memory.
struct BootId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const BootId&, const BootId&) = default;
};

// What an entry is.
enum class EntryKind : std::uint8_t { kKvBlock = 0, kState = 1 };

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_IDS_H_
