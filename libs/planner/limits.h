#ifndef CAIRN_LIBS_PLANNER_LIMITS_H_
#define CAIRN_LIBS_PLANNER_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "libs/base/units.h"
#include "libs/placement/limits.h"

// Bounds of what a planner is told and asked, and of its memory.
namespace cairn::planner::limits {

inline constexpr std::uint32_t kGridTokensMax = 1 << 16;
inline constexpr std::size_t kFamiliesMax = 1 << 17;
inline constexpr std::size_t kEntriesMin = 64;
inline constexpr std::size_t kEntriesMax = 1 << 22;
inline constexpr double kWeightMax = 16;  // of an observation: it counts as so many requests
inline constexpr std::uint32_t kThinningMax = 16;  // one run of observations in so many is taken
inline constexpr std::size_t kAskedMax = 256;      // families noted as asked for, between lessons
inline constexpr std::size_t kBranchesMax = placement::limits::kEntryPositionsMax;
inline constexpr std::size_t kFamiliesListedMax = 1000;
inline constexpr std::size_t kSnapshotBytesMax = 512 * kMiB;

static_assert(kEntriesMin > 2, "one observation always finds room after a restart");
static_assert(kWeightMax <= placement::limits::kArrivalWeightMax, "an observation is one arrival");

}  // namespace cairn::planner::limits
#endif  // CAIRN_LIBS_PLANNER_LIMITS_H_
