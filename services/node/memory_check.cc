#include "services/node/memory_check.h"

#include <sys/statvfs.h>

#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

constexpr std::uint64_t kShmBytesPerWorker = 43 * kMiB / 10;  // UCX 1.13 [measured]

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The number after `name` and white space at a line's start.
std::optional<std::uint64_t> NumberAfter(absl::string_view text, absl::string_view name) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    std::uint64_t value = 0;
    if (words.size() >= 2 && words[0] == name && absl::SimpleAtoi(words[1], &value)) return value;
  }
  return std::nullopt;
}

// How a version of control groups names things.
struct Version {
  std::string folder;  // where its tree is mounted
  std::string limit;
  std::string usage;
  std::string dropped_first;  // pages of files that the kernel can drop
  std::string dropped_second;
};

std::optional<MemoryFigures::Group> GroupAt(const Version& version, const std::string& folder) {
  MemoryFigures::Group group;
  group.limit_file = absl::StrCat(folder, "/", version.limit);
  // "max" and v1's near-endless number mean: no limit.
  if (!absl::SimpleAtoi(ReadFile(group.limit_file), &group.limit_bytes)) return std::nullopt;
  if (group.limit_bytes >= (std::uint64_t{1} << 60)) return std::nullopt;
  std::uint64_t usage = 0;
  if (absl::SimpleAtoi(ReadFile(absl::StrCat(folder, "/", version.usage)), &usage)) {
    const std::string stat = ReadFile(absl::StrCat(folder, "/memory.stat"));
    const std::uint64_t droppable = NumberAfter(stat, version.dropped_first).value_or(0) +
                                    NumberAfter(stat, version.dropped_second).value_or(0);
    group.used_bytes = usage - std::min(usage, droppable);
  }
  return group;
}

// From a group up to the top of its tree: each limit holds. In a container the path may be one of
// the host's, which is not there: its parents are, at the latest the top.
void Tighten(const Version& version, std::string path, MemoryFigures& memory) {
  for (;;) {
    const auto group = GroupAt(version, absl::StrCat(version.folder, path));
    if (group.has_value() &&
        (!memory.group.has_value() || group->left_bytes() < memory.group->left_bytes())) {
      memory.group = group;
    }
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return;
    path.resize(slash);
  }
}

std::string Mib(std::uint64_t bytes) { return absl::StrCat(bytes / kMiB, " MiB"); }

}  // namespace

MemoryFigures ReadMemoryFigures(const std::string& root) {
  MemoryFigures memory;
  memory.available_bytes =
      NumberAfter(ReadFile(absl::StrCat(root, "/proc/meminfo")), "MemAvailable:").value_or(0) *
      kKiB;
  const std::string top = absl::StrCat(root, "/sys/fs/cgroup");
  const Version v1{absl::StrCat(top, "/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes",
                   "total_inactive_file", "total_active_file"};
  const Version v2{top, "memory.max", "memory.current", "inactive_file", "active_file"};
  const std::string groups = ReadFile(absl::StrCat(root, "/proc/self/cgroup"));
  for (const absl::string_view line : absl::StrSplit(groups, '\n')) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::string path = parts[2] == "/" ? "" : parts[2];
    if (parts[0] == "0" && parts[1].empty()) Tighten(v2, path, memory);
    for (const absl::string_view controller : absl::StrSplit(parts[1], ',')) {
      if (controller == "memory") Tighten(v1, path, memory);
    }
  }
  return memory;
}

absl::Status CheckArenaFits(std::uint64_t arena_bytes, const MemoryFigures& memory) {
  std::uint64_t left = memory.available_bytes;
  std::string source = absl::StrCat("MemAvailable is ", Mib(left));
  if (memory.group.has_value() && memory.group->left_bytes() < left) {
    left = memory.group->left_bytes();
    source = absl::StrCat("the control group leaves ", Mib(left), " (", memory.group->limit_file,
                          " says ", Mib(memory.group->limit_bytes), ", in use are ",
                          Mib(memory.group->used_bytes), ")");
  }
  const std::uint64_t usable = left - left / 10;
  if (arena_bytes <= usable) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("arena.bytes is ", Mib(arena_bytes), ", but ",
                                                   source, ", less 10 % ", Mib(usable)));
}

absl::Status CheckShm(int ucx_workers, const std::string& folder) {
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0) return absl::OkStatus();  // UCX will tell
  const std::uint64_t free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  const std::uint64_t needed = static_cast<std::uint64_t>(ucx_workers) * kShmBytesPerWorker;
  if (free_bytes >= needed) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "need ", CeilDiv(needed, kMiB), " MB in ", folder, ", free are ", free_bytes / kMiB, " MB"));
}

}  // namespace cairn
