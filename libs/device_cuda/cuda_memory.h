#ifndef CAIRN_LIBS_DEVICE_CUDA_CUDA_MEMORY_H_
#define CAIRN_LIBS_DEVICE_CUDA_CUDA_MEMORY_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/sk/rt/runtime.h"

namespace cairn {

// What the runtime of kernels/ says, in the words of libs/: RESOURCE_EXHAUSTED where there was no
// memory for it. Any other operation that fails on a device is INTERNAL: it is of no use any more.
absl::Status ToStatus(const rt::Status& status);

enum class CudaMemory { kDevice, kPinned };

// RESOURCE_EXHAUSTED naming what the memory was for, and its size; INTERNAL as ToStatus.
absl::StatusOr<rt::Buffer> Allocate(rt::Device& device, CudaMemory memory, const char* purpose,
                                    std::size_t bytes);

// Replaces `buffer` by a larger one if it has fewer than `bytes`; what was in it is lost. On
// failure it is empty.
absl::Status Grow(rt::Device& device, CudaMemory memory, const char* purpose, std::size_t bytes,
                  rt::Buffer* buffer);

// Pageable memory of the host to the device, by way of pinned memory. Returns when it is there.
absl::Status CopyIn(rt::Device& device, rt::Stream& stream, absl::Span<const std::byte> from,
                    std::byte* to);

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_CUDA_MEMORY_H_
