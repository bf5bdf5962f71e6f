// Compiled once for each instruction set, with CAIRN_CHECKSUM_TIER naming the function. Uses
// nothing inline from the standard library: such a function, compiled here for AVX2, could be the
// copy that the linker keeps for everyone.
#include "libs/base/checksum_tier.h"

#include <string.h>

// XXH_INLINE_ALL: Debian's shared library is SSE2 only and four times slower (design deps.md part
// 7).
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cairn::checksum_internal {
namespace {
constexpr std::size_t kPiece = 4096;
constexpr std::size_t kBatch = 64;  // piece sums gathered before they are fed to the outer hash
}  // namespace

std::uint64_t CAIRN_CHECKSUM_TIER(unsigned char* target, const unsigned char* source,
                                  std::size_t bytes) {
  XXH3_state_t outer;
  XXH3_64bits_reset(&outer);
  std::uint64_t sums[kBatch];
  std::size_t count = 0;
  for (std::size_t at = 0; at < bytes; at += kPiece) {
    const std::size_t piece = bytes - at < kPiece ? bytes - at : kPiece;
    if (target != source) memcpy(target + at, source + at, piece);
    sums[count++] = XXH3_64bits(target + at, piece);  // little-endian machine, as the form asks
    if (count == kBatch) {
      XXH3_64bits_update(&outer, sums, sizeof sums);
      count = 0;
    }
  }
  XXH3_64bits_update(&outer, sums, count * sizeof sums[0]);
  return XXH3_64bits_digest(&outer);
}

}  // namespace cairn::checksum_internal
