#ifndef CAIRN_LIBS_MEMORY_MEMFD_MEMFD_MEMORY_H_
#define CAIRN_LIBS_MEMORY_MEMFD_MEMFD_MEMORY_H_

#include <cstdint>
#include <memory>

#include "libs/ports/memory.h"

namespace cairn {

// MemfdMemorySource makes and maps sealed memfds.
//
// Create: memfd, every page allocated (a full machine is an error here, not a SIGBUS later), mapped
// read-write, then sealed against growing, shrinking, later writable mappings and more seals. The
// pages count against this process's cgroup. Huge pages are asked for; none is one warning.
// Map: checks seals, size and allocation, then maps read-only. Both: MADV_DONTFORK.
//
// Threads: any.
class MemfdMemorySource : public MemorySource {
 public:
  struct Options {
    bool wants_huge_pages = true;
  };
  explicit MemfdMemorySource(const Options& options) : options_(options) {}
  absl::StatusOr<std::unique_ptr<OwnedMemory>> Create(absl::string_view name,
                                                      std::uint64_t bytes) override;
  absl::StatusOr<std::unique_ptr<PeerMemory>> Map(MemoryGrant grant,
                                                  std::uint64_t bytes_max) override;

 private:
  const Options options_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_MEMORY_MEMFD_MEMFD_MEMORY_H_
