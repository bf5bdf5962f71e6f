#ifndef CAIRN_LIBS_DEVICE_HOST_HOST_BUFFER_H_
#define CAIRN_LIBS_DEVICE_HOST_HOST_BUFFER_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cairn {

// Page-aligned zeroed memory, in huge pages where the machine has them.
class HostBuffer {
 public:
  // RESOURCE_EXHAUSTED naming the size.
  static absl::StatusOr<HostBuffer> Allocate(std::size_t bytes);
  HostBuffer() = default;
  HostBuffer(HostBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HostBuffer();
  std::byte* data() const { return data_; }
  float* floats() const { return reinterpret_cast<float*>(data_); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_HOST_HOST_BUFFER_H_
