#ifndef CAIRN_LIBS_BASE_CHECKSUM_H_
#define CAIRN_LIBS_BASE_CHECKSUM_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "libs/base/strong_id.h"

namespace cairn {

using Checksum = StrongId<struct ChecksumTag, std::uint64_t>;

// The checksum of an entry's bytes: XXH3-64 over the little-endian XXH3-64s of its 4 KiB pieces
// (the last may be short); of no bytes: XXH3-64 of nothing. The form lets CPU and GPU work on
// pieces in parallel (services/ARCHITECTURE.md, decisions). About 30 us per MiB.
Checksum ChecksumOf(absl::Span<const std::byte> bytes);

// Copies `source` to `target` (same size, no overlap) and returns the checksum of what was written
// to `target`, piece by piece, so that the target is hashed while it is still in cache.
Checksum CopyAndChecksum(absl::Span<std::byte> target, absl::Span<const std::byte> source);

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_CHECKSUM_H_
