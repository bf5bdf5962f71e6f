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
}  // namespace

void CAIRN_CHECKSUM_TIER(unsigned char* target, const unsigned char* source, std::size_t bytes,
                         std::uint64_t* sums) {
  for (std::size_t at = 0; at < bytes; at += kPiece) {
    const std::size_t piece = bytes - at < kPiece ? bytes - at : kPiece;
    if (target != source) memcpy(target + at, source + at, piece);
    *sums++ = XXH3_64bits(target + at, piece);
  }
}

}  // namespace cairn::checksum_internal
