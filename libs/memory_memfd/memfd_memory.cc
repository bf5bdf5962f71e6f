#include "libs/memory_memfd/memfd_memory.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/base/units.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // Linux 5.1; older C libraries lack the name
#endif

namespace cairn {
namespace {

constexpr int kNeededSeals = F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
constexpr std::uint64_t kHugePageBytes = 2 * kMiB;

std::string ErrnoText() { return std::strerror(errno); }

// A mapping of a memfd, unmapped at the end.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* address, std::size_t bytes) : address_(address), bytes_(bytes) {}
  ~Mapping() {
    if (address_ != nullptr) ::munmap(address_, bytes_);
  }
  Mapping(Mapping&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(address_); }
  std::size_t size() const { return bytes_; }

 private:
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

class MemfdOwnedMemory : public OwnedMemory {
 public:
  MemfdOwnedMemory(MemoryGrant memfd, Mapping mapping, std::uint64_t bytes,
                   std::uint64_t page_bytes)
      : memfd_(std::move(memfd)),
        mapping_(std::move(mapping)),
        bytes_(bytes),
        page_bytes_(page_bytes) {}
  absl::Span<std::byte> bytes() const override { return {mapping_.data(), bytes_}; }
  absl::StatusOr<MemoryGrant> Grant() const override {
    const int fd = ::fcntl(memfd_.fd(), F_DUPFD_CLOEXEC, 3);
    if (fd < 0) return absl::ResourceExhaustedError(absl::StrCat("dup of a memfd: ", ErrnoText()));
    return MemoryGrant::OfDescriptor(fd);
  }
  std::uint64_t page_bytes() const override { return page_bytes_; }

 private:
  const MemoryGrant memfd_;
  const Mapping mapping_;
  const std::uint64_t bytes_;
  const std::uint64_t page_bytes_;
};

class MemfdPeerMemory : public PeerMemory {
 public:
  explicit MemfdPeerMemory(Mapping mapping) : mapping_(std::move(mapping)) {}
  absl::Span<const std::byte> bytes() const override { return {mapping_.data(), mapping_.size()}; }

 private:
  const Mapping mapping_;
};

void WarnOnceAboutSmallPages() {
  static std::atomic<bool> has_warned{false};
  if (has_warned.exchange(true)) return;
  LogEvent(LogLevel::kWarning, "huge_pages_refused")
      .With("page_bytes", kPieceBytes)
      .With("hint", "set /sys/kernel/mm/transparent_hugepage/shmem_enabled to advise");
}

// Allocates every page now: fallocate fails where a page fault would kill us with SIGBUS. Pages are
// charged to the process that touches them first, which shall be this one.
absl::Status Allocate(absl::string_view name, int fd, std::uint64_t bytes) {
  int result = 0;
  do {
    result = ::fallocate(fd, 0, 0, static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(name, ": cannot allocate ", bytes, " bytes of shared memory: ", ErrnoText()));
}

// Writes to every page: one that was allocated and never written counts as a hole to SEEK_HOLE.
void Populate(std::byte* bytes, std::uint64_t count) {
  if (::madvise(bytes, count, MADV_POPULATE_WRITE) == 0) return;  // Linux 5.14
  for (std::uint64_t at = 0; at < count; at += kPieceBytes) {
    *static_cast<volatile std::byte*>(bytes + at) = std::byte{0};
  }
}

// True if no read of the file can meet a page that is not there, which kills the reader where
// memory is short. Blocks alone prove nothing: they may lie beyond the end.
bool IsPopulated(int fd, const struct stat& file) {
  return static_cast<std::uint64_t>(file.st_blocks) * 512 >=
             static_cast<std::uint64_t>(file.st_size) &&
         ::lseek(fd, 0, SEEK_HOLE) >= file.st_size;
}

// The size of the pages behind the mapping at `address`, from /proc/self/smaps.
std::uint64_t PageBytesOf(const void* address) {
  std::FILE* const smaps = std::fopen("/proc/self/smaps", "re");
  if (smaps == nullptr) return kPieceBytes;
  char line[512];
  bool is_ours = false;
  std::uint64_t page_bytes = kPieceBytes;
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  while (std::fgets(line, sizeof line, smaps) != nullptr) {
    unsigned long long first = 0;
    unsigned long long last = 0;
    unsigned long long kib = 0;
    if (std::sscanf(line, "%llx-%llx ", &first, &last) == 2) {
      is_ours = wanted >= first && wanted < last;
    } else if (is_ours && std::sscanf(line, "ShmemPmdMapped: %llu kB", &kib) == 1) {
      if (kib > 0) page_bytes = kHugePageBytes;
      break;
    }
  }
  std::fclose(smaps);
  return page_bytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<OwnedMemory>> MemfdMemorySource::Create(absl::string_view name,
                                                                       std::uint64_t bytes) {
  if (bytes == 0 || bytes > limits::kPoolBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": cannot make ", bytes, " bytes"));
  }
  const int fd = ::memfd_create(std::string(name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return absl::ResourceExhaustedError(absl::StrCat(name, ": memfd: ", ErrnoText()));
  MemoryGrant memfd = MemoryGrant::OfDescriptor(fd);
  if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat(name, ": cannot size to ", bytes, " bytes: ", ErrnoText()));
  }
  void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat(name, ": cannot map ", bytes, " bytes: ", ErrnoText()));
  }
  Mapping mapping(address, bytes);
  // Before the first page is there, or it would be a small one.
  const bool wants_huge = options_.wants_huge_pages && bytes >= kHugePageBytes;
  if (wants_huge) ::madvise(address, bytes, MADV_HUGEPAGE);
  ::madvise(address, bytes, MADV_DONTFORK);
  if (absl::Status allocated = Allocate(name, fd, bytes); !allocated.ok()) return allocated;
  Populate(mapping.data(), bytes);
  if (::fcntl(fd, F_ADD_SEALS, kNeededSeals | F_SEAL_SEAL) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(name, ": cannot seal: ", ErrnoText()));
  }
  const std::uint64_t page_bytes = PageBytesOf(address);
  if (wants_huge && page_bytes == kPieceBytes) WarnOnceAboutSmallPages();
  return std::make_unique<MemfdOwnedMemory>(std::move(memfd), std::move(mapping), bytes,
                                            page_bytes);
}

absl::StatusOr<std::unique_ptr<PeerMemory>> MemfdMemorySource::Map(MemoryGrant grant,
                                                                   std::uint64_t bytes_max) {
  if (grant.fd() < 0) return absl::InvalidArgumentError("the grant is of no memory");
  const int seals = ::fcntl(grant.fd(), F_GET_SEALS);
  // Seals first: what the size was before SHRINK was there proves nothing. Only tmpfs and hugetlbfs
  // have seals, so nothing slow or special passes here.
  if (seals < 0 || (seals & kNeededSeals) != kNeededSeals) {
    return absl::InvalidArgumentError("granted memory is not sealed");
  }
  struct stat file {};
  if (::fstat(grant.fd(), &file) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("granted memory: ", ErrnoText()));
  }
  const auto bytes = static_cast<std::uint64_t>(file.st_size);
  if (file.st_size <= 0 || bytes > bytes_max) {
    return absl::InvalidArgumentError(absl::StrCat("granted memory has ", file.st_size,
                                                   " bytes, at most ", bytes_max, " allowed"));
  }
  if (!IsPopulated(grant.fd(), file)) {
    return absl::InvalidArgumentError(
        "granted memory is not populated: each of its pages must have been written to");
  }
  void* const address = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, grant.fd(), 0);
  if (address == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot map ", bytes, " granted bytes: ", ErrnoText()));
  }
  ::madvise(address, bytes, MADV_DONTFORK);
  return std::make_unique<MemfdPeerMemory>(Mapping(address, bytes));
}

}  // namespace cairn
