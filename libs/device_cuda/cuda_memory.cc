#include "libs/device_cuda/cuda_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"

namespace cairn {

absl::Status ToStatus(const rt::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = absl::StrCat("cuda: ", status.message());
  return status.is_out_of_memory() ? absl::ResourceExhaustedError(message)
                                   : absl::InternalError(message);
}

absl::StatusOr<rt::Buffer> Allocate(rt::Device& device, CudaMemory memory, const char* purpose,
                                    std::size_t bytes) {
  rt::Result<rt::Buffer> buffer =
      memory == CudaMemory::kDevice ? device.Allocate(bytes) : device.AllocatePinned(bytes);
  if (buffer.ok()) return std::move(*buffer);
  const absl::Status status = ToStatus(buffer.status());
  if (!absl::IsResourceExhausted(status)) return status;
  return absl::ResourceExhaustedError(absl::StrCat("cuda: no room for ", bytes, " bytes of ",
                                                   purpose, ": ", buffer.status().message()));
}

absl::Status Grow(rt::Device& device, CudaMemory memory, const char* purpose, std::size_t bytes,
                  rt::Buffer* buffer) {
  if (bytes <= buffer->size()) return absl::OkStatus();
  *buffer = rt::Buffer();  // first: there may not be room for both
  CAIRN_ASSIGN_OR_RETURN(*buffer, Allocate(device, memory, purpose, bytes));
  return absl::OkStatus();
}

absl::Status CopyIn(rt::Device& device, rt::Stream& stream, absl::Span<const std::byte> from,
                    std::byte* to) {
  const std::size_t stage_bytes = std::min<std::size_t>(from.size(), 4 * kMiB);
  if (stage_bytes == 0) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(rt::Buffer stage,
                         Allocate(device, CudaMemory::kPinned, "bytes in passing", stage_bytes));
  for (std::size_t at = 0; at < from.size(); at += stage_bytes) {
    const std::size_t bytes = std::min(stage_bytes, from.size() - at);
    std::memcpy(stage.bytes(), from.data() + at, bytes);
    CAIRN_RETURN_IF_ERROR(ToStatus(stream.CopyAsync(to + at, stage.bytes(), bytes)));
    CAIRN_RETURN_IF_ERROR(ToStatus(stream.Synchronize()));
  }
  return absl::OkStatus();
}

}  // namespace cairn
