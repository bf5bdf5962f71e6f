#include "libs/device_host/host_buffer.h"

#include <sys/mman.h>

#include "absl/strings/str_cat.h"
#include "libs/base/units.h"

namespace cairn {

absl::StatusOr<HostBuffer> HostBuffer::Allocate(std::size_t bytes) {
  HostBuffer buffer;
  buffer.bytes_ = RoundUp(bytes + 1, 2 * kMiB);
  void* data =
      ::mmap(nullptr, buffer.bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    buffer.bytes_ = 0;
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", bytes, " bytes"));
  }
  ::madvise(data, buffer.bytes_, MADV_HUGEPAGE);  // a wish: small pages serve too
  buffer.data_ = static_cast<std::byte*>(data);
  return buffer;
}

HostBuffer::~HostBuffer() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace cairn
