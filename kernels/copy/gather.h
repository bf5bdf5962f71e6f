#ifndef CAIRN_KERNELS_COPY_GATHER_H_
#define CAIRN_KERNELS_COPY_GATHER_H_

#include <cstddef>
#include <cstdint>

#include "kernels/sk/rt/runtime.h"

// Blocks of a pool, picked by their slots, to or from one contiguous buffer: slot slots[i] of the
// pool and block i of the buffer. For pieces too small for the copy engine, which moves those below
// about 28 KiB at a tenth of its speed.

namespace cairn::kernels {

struct GatherParams {
  std::byte* pool = nullptr;             // [slots][block_bytes], 16-byte aligned
  std::byte* buffer = nullptr;           // [count][block_bytes], 16-byte aligned
  const std::uint32_t* slots = nullptr;  // [count], device memory; scatter: all different
  const std::uint32_t* count = nullptr;  // one word of device memory: known when the kernel runs
  std::uint32_t block_bytes = 0;         // multiple of 16
  std::uint32_t pool_slots = 0;          // a slot beyond is left out, and counted in *refused
  std::uint32_t* refused = nullptr;      // one word of device memory, counted up
  std::uint32_t blocks = 8;              // of the grid: few, since copies share the SMs with others
};

// What is wrong with the parameters, or "".
std::string Validate(const GatherParams& params);

rt::Status GatherBlocks(rt::Stream& stream, const GatherParams& params);   // pool to buffer
rt::Status ScatterBlocks(rt::Stream& stream, const GatherParams& params);  // buffer to pool

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_COPY_GATHER_H_
