#ifndef CAIRN_KERNELS_SK_MEMORY_H_
#define CAIRN_KERNELS_SK_MEMORY_H_

#include "kernels/sk/target.h"

// Shared memory (one dynamic arena a block), 16-byte accesses, atomics.

namespace cairn::sk {

// An address in the shared window, as PTX instructions and descriptors take it. Bytes.
using SharedAddress = std::uint32_t;

// The block's dynamic shared memory, 1024-byte aligned in the shared window, of the launch's
// shared_bytes. There is no other shared memory. Plain loads and stores through this pointer are
// generic-proxy accesses. Emulator: every byte starts as 0xff (NaN in every float format, -1), and
// the arena ends where ASan's red zone begins.
SK_OP std::byte* SharedMemory();

// The window address of a pointer into SharedMemory().
SK_OP SharedAddress ToShared(const void* pointer);

struct alignas(16) Words4 {
  std::uint32_t x, y, z, w;
};

// 16 bytes at once; the pointer is 16-byte aligned.
SK_OP Words4 Load16(const void* pointer);
SK_OP void Store16(void* pointer, const Words4& value);
// From global memory that no one writes during the kernel and that is read once: kept out of L1.
SK_OP Words4 LoadStreaming16(const void* pointer);

// Each returns the old value. Relaxed order, device scope. A float sum by atomics depends on the
// order of arrival: not for anything whose bits matter.
SK_OP std::uint32_t AtomicAdd(std::uint32_t* pointer, std::uint32_t value);
SK_OP float AtomicAdd(float* pointer, float value);
SK_OP std::uint32_t AtomicMax(std::uint32_t* pointer, std::uint32_t value);
SK_OP std::uint32_t AtomicExchange(std::uint32_t* pointer, std::uint32_t value);
// Stores `value` if the old value equals `expected`.
SK_OP std::uint32_t AtomicCompareExchange(std::uint32_t* pointer, std::uint32_t expected,
                                          std::uint32_t value);

}  // namespace cairn::sk

#ifdef SK_TARGET_GPU
#include "kernels/sk/ptx/memory.h"
#endif

#endif  // CAIRN_KERNELS_SK_MEMORY_H_
