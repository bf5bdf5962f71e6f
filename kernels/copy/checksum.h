#ifndef CAIRN_KERNELS_COPY_CHECKSUM_H_
#define CAIRN_KERNELS_COPY_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/sk/rt/runtime.h"

// Checksums of a pool's blocks as the cache's entries carry them: XXH3-64 over the little-endian
// XXH3-64s of the block's 4 KiB pieces, the last of which may be shorter.

namespace cairn::kernels {

inline constexpr std::uint32_t kPieceBytes = 4096;

struct ChecksumParams {
  const std::byte* pool = nullptr;  // [slots][block_bytes], 8-byte aligned
  const std::uint32_t* slots =
      nullptr;  // [*count], memory that the device can read, each below pool_slots
  const std::uint32_t* count = nullptr;  // one word of device memory
  std::uint32_t count_max = 0;           // the grid's size: blocks beyond are not done
  std::uint32_t pool_slots = 0;
  std::uint32_t block_bytes = 0;       // multiple of 8
  std::uint64_t* sums = nullptr;       // scratch, [count_max][Pieces(block_bytes)]
  std::uint64_t* checksums = nullptr;  // [count_max]; a slot beyond pool_slots gives 0
};

SK_BOTH constexpr std::uint32_t Pieces(std::uint32_t block_bytes) {
  return (block_bytes + kPieceBytes - 1) / kPieceBytes;
}

// What is wrong with the parameters, or "".
std::string Validate(const ChecksumParams& params);
rt::Status ChecksumBlocks(rt::Stream& stream, const ChecksumParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_COPY_CHECKSUM_H_
