#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_LIMITS_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "libs/placement/limits.h"

// Bounds of the files that `cairn-bench placement` reads. Beyond one of them the file is refused,
// with the line that went too far.
namespace cairn::bench::limits {

inline constexpr std::size_t kLineBytesMax = std::size_t{64} << 20;
inline constexpr std::size_t kJsonDepthMax = 16;
inline constexpr std::size_t kJsonFileBytesMax = std::size_t{256} << 20;  // parsed as one value
inline constexpr std::size_t kRequestsMax = std::size_t{1} << 22;
inline constexpr std::size_t kBlocksMax = std::size_t{1} << 27;      // of all requests together
inline constexpr std::uint64_t kTokensMax = std::uint64_t{1} << 24;  // of one request
inline constexpr std::size_t kNameBytesMax = 4096;
inline constexpr std::size_t kRunsMax = 64;  // logs in one folder

static_assert(kTokensMax / 512 <= placement::limits::kEntryPositionsMax,
              "a trace's longest request is one that the experts take");

}  // namespace cairn::bench::limits
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_LIMITS_H_
