#ifndef CAIRN_LIBS_DEVICE_CUDA_BLOCK_SUMS_H_
#define CAIRN_LIBS_DEVICE_CUDA_BLOCK_SUMS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/sk/rt/runtime.h"
#include "libs/base/checksum.h"

namespace cairn {

// BlockSums has blocks of the device's pool summed where they are: 8 bytes a block come back.
// Threads: one. Its memory grows to the most blocks at once and is kept.
class BlockSums {
 public:
  BlockSums(rt::Device& device, std::uint64_t block_bytes)
      : device_(device), block_bytes_(block_bytes) {}

  // The checksums of the blocks in these slots of `pool`, in order. Waits for the stream.
  absl::Status Sum(const rt::Buffer& pool, absl::Span<const std::uint32_t> slots,
                   rt::Stream& stream, absl::Span<Checksum> sums);
  std::uint64_t blocks() const { return blocks_; }  // summed so far

 private:
  rt::Device& device_;
  const std::uint64_t block_bytes_;
  rt::Buffer list_;    // pinned: how many, then their slots
  rt::Buffer pieces_;  // of the device: each block's pieces' sums
  rt::Buffer sums_;
  rt::Buffer host_sums_;  // pinned
  std::uint64_t blocks_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_BLOCK_SUMS_H_
