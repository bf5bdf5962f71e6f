#ifndef CAIRN_LIBS_BASE_CHECKSUM_PIECES_H_
#define CAIRN_LIBS_BASE_CHECKSUM_PIECES_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "libs/base/checksum.h"

// The two steps of a checksum apart, so that several threads can share the work on one block: each
// sums a run of whole pieces, and the last one to end makes the checksum of all their sums.
namespace cairn {

// Writes the sum of each piece (kPieceBytes; the last may be shorter) of `bytes` to `sums`, which
// has exactly as many places.
void SumPieces(absl::Span<const std::byte> bytes, absl::Span<std::uint64_t> sums);
// The same of what it has copied from `source` to `target` (same size, no overlap).
void CopyAndSumPieces(absl::Span<std::byte> target, absl::Span<const std::byte> source,
                      absl::Span<std::uint64_t> sums);
// ChecksumOf the block whose pieces, in order, have these sums.
Checksum ChecksumOfSums(absl::Span<const std::uint64_t> sums);

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_CHECKSUM_PIECES_H_
