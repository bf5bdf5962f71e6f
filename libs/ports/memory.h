#ifndef CAIRN_LIBS_PORTS_MEMORY_H_
#define CAIRN_LIBS_PORTS_MEMORY_H_

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cairn {

// MemoryGrant is the right to map one piece of shared memory read-only: a descriptor that travels
// over a LocalChannel. Move-only; owns the descriptor (or, in simulation, a reference).
class MemoryGrant {
 public:
  MemoryGrant() = default;
  static MemoryGrant OfDescriptor(int fd) {
    MemoryGrant grant;
    grant.fd_ = fd;
    return grant;
  }
  static MemoryGrant OfLocal(std::shared_ptr<void> local) {
    MemoryGrant grant;
    grant.local_ = std::move(local);
    return grant;
  }
  ~MemoryGrant() {
    if (fd_ >= 0) ::close(fd_);
  }
  MemoryGrant(MemoryGrant&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), local_(std::move(other.local_)) {}
  MemoryGrant& operator=(MemoryGrant&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(local_, other.local_);
    return *this;
  }
  int fd() const { return fd_; }  // -1 in simulation
  const std::shared_ptr<void>& local() const { return local_; }

 private:
  int fd_ = -1;
  std::shared_ptr<void> local_;
};

// Memory of ours that peers may read: mapped read-write here, in any other process read-only for
// ever (sealed: no shrinking, no growing, no later writable mapping), every page allocated, not
// inherited by forked children. Unmapped by the destructor; peers' mappings live on.
class OwnedMemory {
 public:
  virtual ~OwnedMemory() = default;
  virtual absl::Span<std::byte> bytes() const = 0;  // page-aligned
  // Another grant of the same memory.
  virtual absl::StatusOr<MemoryGrant> Grant() const = 0;
  // The page size that backs it, as far as known (4 KiB or 2 MiB).
  virtual std::uint64_t page_bytes() const = 0;
};

// A peer's memory, mapped read-only here. Never faults: it was checked to be whole and
// unshrinkable.
class PeerMemory {
 public:
  virtual ~PeerMemory() = default;
  virtual absl::Span<const std::byte> bytes() const = 0;
};

// MemorySource makes and maps shared memory. Real: memory_memfd. Simulated: memory_heap.
// Threads: any; objects may be destroyed on any thread.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // `name` shows up in /proc/PID/maps. RESOURCE_EXHAUSTED names the size and what was short.
  virtual absl::StatusOr<std::unique_ptr<OwnedMemory>> Create(absl::string_view name,
                                                              std::uint64_t bytes) = 0;
  // Maps what a peer granted. INVALID_ARGUMENT if a seal is missing, if it is larger than
  // `bytes_max`, empty, or not populated (a page that was never written to): each of these could
  // make a read fault later.
  virtual absl::StatusOr<std::unique_ptr<PeerMemory>> Map(MemoryGrant grant,
                                                          std::uint64_t bytes_max) = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PORTS_MEMORY_H_
