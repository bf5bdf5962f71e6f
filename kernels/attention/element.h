#ifndef CAIRN_KERNELS_ATTENTION_ELEMENT_H_
#define CAIRN_KERNELS_ATTENTION_ELEMENT_H_

#include "kernels/sk/sk.h"

// The 16-bit formats that a pool may have, as kernels' template argument.

namespace cairn::kernels {

struct Bf16 {
  static constexpr sk::InputType kInput = sk::InputType::kBf16;
  SK_DEVICE static float Low(std::uint32_t pair) { return sk::LowBf16(pair); }
  SK_DEVICE static float High(std::uint32_t pair) { return sk::HighBf16(pair); }
  SK_DEVICE static std::uint32_t Pack(float low, float high) { return sk::PackBf16(low, high); }
  SK_DEVICE static void Mma(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                            sk::Site site = sk::Site::Here()) {
    sk::MmaBf16(c, a, b, site);
  }
};

struct F16 {
  static constexpr sk::InputType kInput = sk::InputType::kF16;
  SK_DEVICE static float Low(std::uint32_t pair) { return sk::LowF16(pair); }
  SK_DEVICE static float High(std::uint32_t pair) { return sk::HighF16(pair); }
  SK_DEVICE static std::uint32_t Pack(float low, float high) { return sk::PackF16(low, high); }
  SK_DEVICE static void Mma(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                            sk::Site site = sk::Site::Here()) {
    sk::MmaF16(c, a, b, site);
  }
};

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_ELEMENT_H_
