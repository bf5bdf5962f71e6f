#ifndef CAIRN_LIBS_MAPPED_FILE_MAPPED_FILE_H_
#define CAIRN_LIBS_MAPPED_FILE_MAPPED_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cairn {

// MappedFile is a read-only mapping of a whole file, from Open to destruction.
// The file must not shrink while it is mapped: reading behind its new end is SIGBUS (replace model
// files by rename, never in place).
// Errors: NOT_FOUND; INVALID_ARGUMENT for an empty file or anything but a regular file;
//         PERMISSION_DENIED, UNAVAILABLE. The message names the path.
class MappedFile {
 public:
  static absl::StatusOr<MappedFile> Open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // Page-aligned; valid as long as the object that it was moved into last.
  absl::Span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(absl::Span<const std::byte> bytes) : bytes_(bytes) {}
  absl::Span<const std::byte> bytes_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_MAPPED_FILE_MAPPED_FILE_H_
