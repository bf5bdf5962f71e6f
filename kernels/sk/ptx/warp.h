#ifndef CAIRN_KERNELS_SK_PTX_WARP_H_
#define CAIRN_KERNELS_SK_PTX_WARP_H_

#include "kernels/sk/warp.h"

namespace cairn::sk {

SK_DEVICE void SyncWarp(std::uint32_t mask, Site) { __syncwarp(mask); }

SK_DEVICE std::uint32_t ShuffleXor(std::uint32_t value, std::uint32_t lane_mask, std::uint32_t mask,
                                   Site) {
  return __shfl_xor_sync(mask, value, static_cast<int>(lane_mask));
}
SK_DEVICE float ShuffleXor(float value, std::uint32_t lane_mask, std::uint32_t mask, Site) {
  return __shfl_xor_sync(mask, value, static_cast<int>(lane_mask));
}
SK_DEVICE std::uint32_t Shuffle(std::uint32_t value, std::uint32_t source_lane, std::uint32_t mask,
                                Site) {
  return __shfl_sync(mask, value, static_cast<int>(source_lane));
}
SK_DEVICE float Shuffle(float value, std::uint32_t source_lane, std::uint32_t mask, Site) {
  return __shfl_sync(mask, value, static_cast<int>(source_lane));
}
SK_DEVICE std::uint32_t ShuffleUp(std::uint32_t value, std::uint32_t delta, std::uint32_t mask,
                                  Site) {
  return __shfl_up_sync(mask, value, delta);
}
SK_DEVICE std::uint32_t ShuffleDown(std::uint32_t value, std::uint32_t delta, std::uint32_t mask,
                                    Site) {
  return __shfl_down_sync(mask, value, delta);
}

SK_DEVICE std::uint32_t Ballot(bool predicate, std::uint32_t mask, Site) {
  return __ballot_sync(mask, predicate);
}

SK_DEVICE std::uint32_t ReduceAdd(std::uint32_t value, std::uint32_t mask, Site) {
  return __reduce_add_sync(mask, value);
}
SK_DEVICE std::uint32_t ReduceMax(std::uint32_t value, std::uint32_t mask, Site) {
  return __reduce_max_sync(mask, value);
}
SK_DEVICE std::uint32_t ReduceMin(std::uint32_t value, std::uint32_t mask, Site) {
  return __reduce_min_sync(mask, value);
}

SK_DEVICE bool ElectOne(Site) {
  std::uint32_t is_elected;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(is_elected)::"memory");
  return is_elected != 0;
}

}  // namespace cairn::sk

#endif  // CAIRN_KERNELS_SK_PTX_WARP_H_
