#ifndef CAIRN_KERNELS_SK_DESCRIPTOR_H_
#define CAIRN_KERNELS_SK_DESCRIPTOR_H_

#include "kernels/sk/memory.h"
#include "kernels/sk/target.h"

// The matrix descriptor of wgmma's shared-memory operands (PTX ISA, "Matrix Descriptor Format").
//
// A tile is made of chunks of 16 bytes (8 values of 16 bits). With w = 1, 2, 4 or 8 chunks for the
// modes kNone, k32, k64 and k128, chunk addresses relative to `start` are, before swizzling:
//   K-major   row r, chunk c along k (0 or 1): (r % 8) * w * 16 + (r / 8) * stride + c * 16
//             (kNone: (r % 8) * 16 + (r / 8) * stride + c * leading)
//   MN-major  chunk m along M or N, row k:     (m % w) * 16 + (m / w) * leading
//                                              + (k % 8) * w * 16 + (k / 8) * stride
//             (kNone: m * stride + (k % 8) * 16 + (k / 8) * leading)
// Swizzling then XORs bits 4.. of the ADDRESS with its bits 7.. (1, 2 or 3 bits), so a k128 tile
// starts at a multiple of 1024 bytes, a k64 tile at 512, a k32 tile at 256. Within such a tile the
// next k-step of 16 values is `start` + 32 bytes (K-major).

namespace cairn::sk {

enum class Swizzle : std::uint8_t { kNone = 0, k128 = 1, k64 = 2, k32 = 3 };  // PTX's values

struct MatrixDescriptor {
  std::uint64_t bits = 0;
};

struct MatrixLayout {
  SharedAddress start = 0;          // bytes, multiple of 16
  std::uint32_t leading_bytes = 0;  // multiple of 16, below 2^18; unused in swizzled K-major tiles
  std::uint32_t stride_bytes = 0;   // multiple of 16, below 2^18
  std::uint32_t base_offset = 0;    // (address of the pattern's start >> 7) & 7; 0 when aligned
  Swizzle swizzle = Swizzle::kNone;
};

// The manual's matrix-descriptor-encode: 18 bits of bytes in units of 16.
SK_BOTH constexpr std::uint64_t EncodeBytes(std::uint32_t bytes) { return (bytes & 0x3ffff) >> 4; }

SK_BOTH constexpr MatrixDescriptor Describe(const MatrixLayout& layout) {
  return {EncodeBytes(layout.start)                                   // bits 0..13
          | EncodeBytes(layout.leading_bytes) << 16                   // bits 16..29
          | EncodeBytes(layout.stride_bytes) << 32                    // bits 32..45
          | static_cast<std::uint64_t>(layout.base_offset & 7) << 49  // bits 49..51
          | static_cast<std::uint64_t>(layout.swizzle) << 62};        // bits 62..63
}

// The descriptor of the tile `bytes` further on.
SK_BOTH constexpr MatrixDescriptor Advance(MatrixDescriptor descriptor, std::uint32_t bytes) {
  return {descriptor.bits + (bytes >> 4)};
}

// How many 16-byte chunks wide a swizzle's pattern is, and what it repeats after.
SK_BOTH constexpr std::uint32_t SwizzleChunks(Swizzle swizzle) {
  return swizzle == Swizzle::k128  ? 8
         : swizzle == Swizzle::k64 ? 4
         : swizzle == Swizzle::k32 ? 2
                                   : 1;
}
SK_BOTH constexpr std::uint32_t PatternBytes(Swizzle swizzle) {
  return SwizzleChunks(swizzle) * 128;
}

// Where a byte of an unswizzled tile lies; `address` is a window address or an offset from a
// pattern's start. What software that fills a tile by hand must apply.
SK_BOTH constexpr std::uint32_t SwizzleAddress(std::uint32_t address, Swizzle swizzle) {
  return address ^ (((address >> 7) & (SwizzleChunks(swizzle) - 1)) << 4);
}

}  // namespace cairn::sk

#endif  // CAIRN_KERNELS_SK_DESCRIPTOR_H_
