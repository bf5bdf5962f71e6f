#ifndef CAIRN_KERNELS_SK_PTX_MEMORY_H_
#define CAIRN_KERNELS_SK_PTX_MEMORY_H_

#include "kernels/sk/memory.h"

namespace cairn::sk {

SK_DEVICE std::byte* SharedMemory() {
  extern __shared__ __align__(1024) unsigned char cairn_sk_arena[];
  return reinterpret_cast<std::byte*>(cairn_sk_arena);
}
SK_DEVICE SharedAddress ToShared(const void* pointer) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(pointer));
}

SK_DEVICE Words4 Load16(const void* pointer) {
  const uint4 value = *static_cast<const uint4*>(pointer);
  return {value.x, value.y, value.z, value.w};
}
SK_DEVICE void Store16(void* pointer, const Words4& value) {
  *static_cast<uint4*>(pointer) = make_uint4(value.x, value.y, value.z, value.w);
}
SK_DEVICE Words4 LoadStreaming16(const void* pointer) {
  Words4 value;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(__cvta_generic_to_global(pointer)));
  return value;
}

SK_DEVICE std::uint32_t AtomicAdd(std::uint32_t* pointer, std::uint32_t value) {
  return atomicAdd(pointer, value);
}
SK_DEVICE float AtomicAdd(float* pointer, float value) { return atomicAdd(pointer, value); }
SK_DEVICE std::uint32_t AtomicMax(std::uint32_t* pointer, std::uint32_t value) {
  return atomicMax(pointer, value);
}
SK_DEVICE std::uint32_t AtomicExchange(std::uint32_t* pointer, std::uint32_t value) {
  return atomicExch(pointer, value);
}
SK_DEVICE std::uint32_t AtomicCompareExchange(std::uint32_t* pointer, std::uint32_t expected,
                                              std::uint32_t value) {
  return atomicCAS(pointer, expected, value);
}

}  // namespace cairn::sk

#endif  // CAIRN_KERNELS_SK_PTX_MEMORY_H_
