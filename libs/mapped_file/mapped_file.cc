#include "libs/mapped_file/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cairn {
namespace {

absl::Status SystemError(const std::string& path, const char* call, int error) {
  const std::string message = absl::StrCat(path, ": ", call, ": ", std::strerror(error));
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(message);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(message);
  return absl::UnavailableError(message);
}

absl::StatusOr<absl::Span<const std::byte>> Map(const std::string& path, int file) {
  struct stat about;
  if (::fstat(file, &about) != 0) return SystemError(path, "fstat", errno);
  if (!S_ISREG(about.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  }
  if (about.st_size == 0) return absl::InvalidArgumentError(absl::StrCat(path, ": empty file"));
  const std::size_t size = static_cast<std::size_t>(about.st_size);
  void* base = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (base == MAP_FAILED) return SystemError(path, "mmap", errno);
  return absl::MakeConstSpan(static_cast<const std::byte*>(base), size);
}

void Unmap(absl::Span<const std::byte> bytes) {
  if (!bytes.empty()) ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  // O_NONBLOCK: a FIFO is refused by Map rather than waited for.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return SystemError(path, "open", errno);
  absl::StatusOr<absl::Span<const std::byte>> bytes = Map(path, file);
  ::close(file);
  if (!bytes.ok()) return bytes.status();
  return MappedFile(*bytes);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  Unmap(bytes_);
  bytes_ = std::exchange(other.bytes_, {});
  return *this;
}

MappedFile::~MappedFile() { Unmap(bytes_); }

}  // namespace cairn
