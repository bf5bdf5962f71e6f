#ifndef CAIRN_KERNELS_GPU_CLOCK_H_
#define CAIRN_KERNELS_GPU_CLOCK_H_

#include "kernels/sk/target.h"

// The two clocks of a GPU: a multiprocessor's cycles and the nanoseconds of the whole. They are no
// business of sk, since a kernel of the product must not depend on time; hence the assembly here.
// Emulated: cycles pass at 2 GHz, a microsecond a look.

namespace cairn::gpu {

#ifdef SK_TARGET_GPU
SK_DEVICE std::uint64_t Cycles() {
  std::uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}
SK_DEVICE std::uint64_t Nanoseconds() {
  std::uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
  return nanoseconds;
}
#else
inline std::uint64_t emulated_microseconds = 0;
inline std::uint64_t Cycles() { return emulated_microseconds * 2000; }
inline std::uint64_t Nanoseconds() { return ++emulated_microseconds * 1000; }
#endif

}  // namespace cairn::gpu

#endif  // CAIRN_KERNELS_GPU_CLOCK_H_
