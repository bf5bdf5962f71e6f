#ifndef CAIRN_SERVICES_NODE_MEMORY_CHECK_H_
#define CAIRN_SERVICES_NODE_MEMORY_CHECK_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace cairn {

// What this process may still take, as the kernel says. `root` is put before every path ("/proc",
// "/sys/fs/cgroup"), for tests.
struct MemoryFigures {
  std::uint64_t available_bytes = 0;  // MemAvailable
  // The control group (v1 or v2, this one or one above it) that leaves least: its limit, less what
  // it uses and could not drop.
  struct Group {
    std::string limit_file;
    std::uint64_t limit_bytes = 0;
    std::uint64_t used_bytes = 0;
    std::uint64_t left_bytes() const { return limit_bytes - std::min(limit_bytes, used_bytes); }
  };
  std::optional<Group> group;  // none: no limit
};
MemoryFigures ReadMemoryFigures(const std::string& root = "");

// RESOURCE_EXHAUSTED with both numbers if `arena_bytes` is more than 90 % of what there is.
absl::Status CheckArenaFits(std::uint64_t arena_bytes, const MemoryFigures& memory);

// RESOURCE_EXHAUSTED "need N MB in /dev/shm" if `ucx_workers` find no room there.
absl::Status CheckShm(int ucx_workers, const std::string& folder = "/dev/shm");

}  // namespace cairn
#endif  // CAIRN_SERVICES_NODE_MEMORY_CHECK_H_
