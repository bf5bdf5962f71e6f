#ifndef CAIRN_KERNELS_COPY_FETCH_H_
#define CAIRN_KERNELS_COPY_FETCH_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/sk/rt/runtime.h"

// Blocks of the host, each wherever it lies, into slots of a pool on the device, by loads over
// PCIe: the other way beside copies by the copy engine, which moves pieces below some 28 KiB at a
// tenth of its speed. Which is faster for a pool's blocks can only be measured.

namespace cairn::kernels {

struct FetchItem {
  const std::byte* source;  // pinned or registered memory, 16-byte aligned
  std::uint32_t slot;       // of the pool
  std::uint32_t unused;
};

struct FetchParams {
  std::byte* pool = nullptr;  // [slots][block_bytes], 16-byte aligned
  const FetchItem* items =
      nullptr;                    // [count], memory that the device can read; slots all different
  std::uint32_t count = 0;        // of items
  std::uint32_t block_bytes = 0;  // multiple of 16, at most 2^30
  std::uint32_t blocks = 16;      // of the grid: 16 KiB are in flight in each
};

// What is wrong with the parameters, or "".
std::string Validate(const FetchParams& params);
rt::Status FetchBlocks(rt::Stream& stream, const FetchParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_COPY_FETCH_H_
