#ifndef CAIRN_KERNELS_SK_TARGET_H_
#define CAIRN_KERNELS_SK_TARGET_H_

#include <cstddef>
#include <cstdint>

// What a kernel source needs to compile twice: by nvcc for sm_90a, and by a plain C++ compiler for
// the SIMT emulator (kernels/sk/emu). No CUDA header is seen by the second.
//
//   SK_KERNEL   before a kernel:              SK_KERNEL void Decode(DecodeParams params) { ... }
//   SK_KERNEL_REGISTERS(n)  before a kernel that moves registers between warpgroups: each thread
//               starts with n. Say the same n in the launch, where the emulator learns of it.
//   SK_KERNEL_BLOCKS(threads, n)  before a kernel of which n blocks of `threads` share an SM: it
//               gets as many registers as they leave it
//   SK_DEVICE   before a function of kernels
//   SK_BOTH     before a constexpr function that host code calls too (layouts, descriptors)
//   SK_CONSTANT(type)  before a table at namespace scope that kernels index
//   SK_UNROLL   before a loop whose index must be a constant, because it indexes registers

#ifdef __CUDACC__
#define SK_TARGET_GPU 1
#define SK_KERNEL __global__
#define SK_KERNEL_REGISTERS(n) __global__ __maxnreg__(n)
#define SK_KERNEL_BLOCKS(threads, n) __global__ __launch_bounds__(threads, n)
#define SK_DEVICE __device__ __forceinline__
#define SK_BOTH __host__ __device__ __forceinline__
#define SK_UNROLL _Pragma("unroll")
#define SK_CONSTANT(type) static __constant__ const type
#else
#define SK_KERNEL inline
#define SK_KERNEL_REGISTERS(n) inline
#define SK_KERNEL_BLOCKS(threads, n) inline
#define SK_DEVICE inline
#define SK_BOTH inline
#define SK_UNROLL
#define SK_CONSTANT(type) static const type
#endif

namespace cairn::sk {

// Site is where in a kernel's source an operation of sk stands. Every barrier, wait, arrive, fence
// and commit takes one as its last, defaulted argument. The emulator names it in reports, counts
// it, and can be told to ignore or to weaken it (emu::Options); the GPU never sees it.
// One sk call a line: a line is a site.
#ifdef SK_TARGET_GPU
struct Site {
  SK_BOTH static constexpr Site Here() { return {}; }
};
#else
struct Site {
  const char* file = "";
  int line = 0;
  static constexpr Site Here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};
#endif

inline constexpr std::uint32_t kWarpLanes = 32;
inline constexpr std::uint32_t kWarpgroupThreads = 128;
inline constexpr std::uint32_t kFullWarp = 0xffffffffu;

}  // namespace cairn::sk

// Before a declaration that ptx/ defines inline for nvcc and emu/ defines in its library.
#ifdef SK_TARGET_GPU
#define SK_OP SK_DEVICE
#else
#define SK_OP
#endif

#endif  // CAIRN_KERNELS_SK_TARGET_H_
