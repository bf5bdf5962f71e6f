#ifndef CAIRN_LIBS_BASE_LIMITS_H_
#define CAIRN_LIBS_BASE_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "libs/base/units.h"

// Every limit of the product, in one file. At a limit we refuse, never grow. A value that operators
// may lower stands in config (proto/cairn/config/v1) and is bounded by the one here.
namespace cairn::limits {

// ---- prompts and keys (libs/span) ----
inline constexpr std::size_t kPromptTokensMax = 1 << 20;
inline constexpr std::size_t kSegmentsMax = 1 << 16;
inline constexpr std::size_t kExtrasMax = 1 << 16;
inline constexpr std::size_t kIdentityFieldBytesMax = 4096;
inline constexpr std::uint32_t kBlockTokensMax = 1 << 16;

// ---- messages (libs/wire) ----
inline constexpr std::size_t kMessageBytesMax = 4 * kMiB;          // any control message
inline constexpr std::size_t kFirstMessageBytesMax = 4 * kKiB;     // before HELLO succeeded
inline constexpr std::size_t kKeysPerMessageMax = 16384;           // ACQUIRE; OFFER is lower
inline constexpr std::size_t kOfferEntriesMax = 4096;
inline constexpr std::uint64_t kEntryBytesMax = 256 * kMiB;        // one stored block or state
inline constexpr std::uint64_t kDeadlineMicrosMax = 600'000'000;   // ten minutes

static_assert(kKeysPerMessageMax * 64 < kMessageBytesMax, "an ACQUIRED for every key fits");

// ---- arena and node (libs/block, libs/node) ----
inline constexpr std::uint64_t kSegmentBytesMax = 16 * kGiB;
inline constexpr std::size_t kArenaSegmentsMax = 4096;
inline constexpr std::uint32_t kSlotsPerSegmentMax = 1 << 20;
inline constexpr std::uint32_t kShardsMax = 64;
inline constexpr std::uint32_t kSessionsMax = 1024;
inline constexpr std::uint32_t kHelloPendingMax = 64;
inline constexpr std::uint32_t kPinsPerSessionMax = 1 << 18;       // pinned keys, not pin objects
inline constexpr std::uint32_t kLoansMax = 1 << 16;
inline constexpr std::uint32_t kPendingPerKeyMax = 64;
inline constexpr std::uint64_t kPoolBytesMax = 1024 * kGiB;        // a worker's offered pool

}  // namespace cairn::limits
#endif  // CAIRN_LIBS_BASE_LIMITS_H_
