#ifndef CAIRN_KERNELS_COPY_XXH3_H_
#define CAIRN_KERNELS_COPY_XXH3_H_

#include "kernels/sk/sk.h"

// XXH3-64 (seed 0, default secret; xxHash's specification) of 8-byte aligned data whose size is a
// multiple of 8, by 8 lanes: lane j keeps accumulator j. Data of 240 bytes or less is hashed by
// each lane for itself.

namespace cairn::kernels {

inline constexpr std::uint64_t kXxhPrime1 = 0x9e3779b185ebca87, kXxhPrime2 = 0xc2b2ae3d27d4eb4f,
                               kXxhPrime3 = 0x165667b19e3779f9, kXxhPrime4 = 0x85ebca77c2b2ae63,
                               kXxhPrime5 = 0x27d4eb2f165667c5;
inline constexpr std::uint64_t kXxhPrime32_1 = 0x9e3779b1, kXxhPrime32_2 = 0x85ebca77,
                               kXxhPrime32_3 = 0xc2b2ae3d;
inline constexpr std::uint32_t kXxhShortMax = 240, kXxhStripe = 64, kXxhStripesPerBlock = 16;

SK_CONSTANT(std::uint64_t)
kXxhSecret[24] = {
    0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072,
    0x78e5c0cc4ee679cb, 0x2172ffcc7dd05a82, 0x8e2443f7744608b8, 0x4c263a81e69035e0,
    0xcb00c391bb52283c, 0xa32e531b8b65d088, 0x4ef90da297486471, 0xd8acdea946ef1938,
    0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a, 0x647378d9c97e9fc8,
    0xc3ebd33483acc5ea, 0xeb6313faffa081c5, 0x49daf0b751dd0d17, 0x9e68d429265516d3,
    0xfca1477d58be162b, 0xce31d07ad1b8f88f, 0x280416958f3acb45, 0x7e404bbbcafbd7af,
};
// Of the eight accumulators.
SK_CONSTANT(std::uint64_t)
kXxhStart[8] = {kXxhPrime32_3, kXxhPrime1,    kXxhPrime2, kXxhPrime3,
                kXxhPrime4,    kXxhPrime32_2, kXxhPrime5, kXxhPrime32_1};

// The secret's 8 bytes at any offset up to 184.
SK_DEVICE std::uint64_t Secret(std::uint32_t offset) {
  const std::uint32_t shift = offset % 8 * 8;
  const std::uint64_t low = kXxhSecret[sk::Index(offset / 8)] >> shift;
  return shift == 0 ? low : low | kXxhSecret[sk::Index(offset / 8 + 1)] << (64 - shift);
}

SK_DEVICE std::uint64_t FoldProduct(std::uint64_t a, std::uint64_t b) {
  return a * b ^ sk::MultiplyHigh(a, b);
}
SK_DEVICE std::uint64_t Avalanche(std::uint64_t hash) {
  hash ^= hash >> 37;
  hash *= 0x165667919e3779f9;
  return hash ^ hash >> 32;
}
SK_DEVICE std::uint64_t Mix16(const std::uint64_t* words, std::uint32_t secret) {
  const std::uint64_t low = words[sk::Index(0u)] ^ Secret(secret);
  const std::uint64_t high = words[sk::Index(1u)] ^ Secret(secret + 8);
  return FoldProduct(low, high);
}
SK_DEVICE std::uint64_t Rotated(std::uint64_t x, int bits) { return x << bits | x >> (64 - bits); }
SK_DEVICE std::uint64_t ByteSwapped(std::uint64_t x) {
  x = (x & 0x00ff00ff00ff00ff) << 8 | (x >> 8 & 0x00ff00ff00ff00ff);
  x = (x & 0x0000ffff0000ffff) << 16 | (x >> 16 & 0x0000ffff0000ffff);
  return x << 32 | x >> 32;
}

// 8 to 240 bytes.
SK_DEVICE std::uint64_t Xxh3Short(const std::uint64_t* words, std::uint32_t bytes) {
  const std::uint32_t count = bytes / 8;
  if (count == 1) {  // two halves, exchanged
    const std::uint64_t word = words[sk::Index(0u)];
    std::uint64_t hash = (word << 32 | word >> 32) ^ Secret(8) ^ Secret(16);
    hash ^= Rotated(hash, 49) ^ Rotated(hash, 24);
    hash *= 0x9fb21c651e98df25;
    hash ^= (hash >> 35) + bytes;
    hash *= 0x9fb21c651e98df25;
    return hash ^ hash >> 28;
  }
  if (count == 2) {
    const std::uint64_t low = words[sk::Index(0u)] ^ Secret(24) ^ Secret(32);
    const std::uint64_t high = words[sk::Index(1u)] ^ Secret(40) ^ Secret(48);
    return Avalanche(bytes + ByteSwapped(low) + high + FoldProduct(low, high));
  }
  std::uint64_t hash = bytes * kXxhPrime1;
  if (bytes <= 128) {
    // Pairs from both ends, towards the middle.
    const std::uint32_t ends = (bytes - 1) / 32 + 1;
    for (std::uint32_t i = 0; i < ends; ++i) {
      hash += Mix16(words + sk::Index(2 * i), 32 * i);
      hash += Mix16(words + sk::Index(count - 2 * (i + 1)), 32 * i + 16);
    }
    return Avalanche(hash);
  }
  for (std::uint32_t i = 0; i < 8; ++i) hash += Mix16(words + sk::Index(2 * i), 16 * i);
  hash = Avalanche(hash);
  for (std::uint32_t i = 8; i < bytes / 16; ++i) {
    hash += Mix16(words + sk::Index(2 * i), 16 * (i - 8) + 3);
  }
  hash += Mix16(words + sk::Index(count - 2), 136 - 17);
  return Avalanche(hash);
}

// One lane's part of a 64-byte stripe.
SK_DEVICE void Accumulate(std::uint64_t& sum, const std::uint64_t* stripe, std::uint32_t lane,
                          std::uint32_t secret) {
  const std::uint64_t keyed = stripe[sk::Index(lane)] ^ Secret(secret + 8 * lane);
  sum += stripe[sk::Index(lane ^ 1)];
  sum += (keyed & 0xffffffff) * (keyed >> 32);
}

SK_DEVICE std::uint64_t ShuffleXor64(std::uint64_t value, std::uint32_t lane_mask,
                                     std::uint32_t mask) {
  const std::uint32_t low = sk::ShuffleXor(static_cast<std::uint32_t>(value), lane_mask, mask);
  const std::uint32_t high =
      sk::ShuffleXor(static_cast<std::uint32_t>(value >> 32), lane_mask, mask);
  return low | static_cast<std::uint64_t>(high) << 32;
}

// By the 8 lanes of `mask` (0xff, shifted by 0, 8, 16 or 24), which all get the hash.
SK_DEVICE std::uint64_t Xxh3(const std::uint64_t* words, std::uint32_t bytes, std::uint32_t mask) {
  if (bytes <= kXxhShortMax) return Xxh3Short(words, bytes);
  const std::uint32_t lane = sk::LaneIndex() % 8;
  std::uint64_t sum = kXxhStart[sk::Index(lane)];

  // All whole stripes but the last bytes' own; the accumulators are scrambled after each 16.
  const std::uint32_t stripes = (bytes - 1) / kXxhStripe;
  for (std::uint32_t i = 0; i < stripes; ++i) {
    Accumulate(sum, words + sk::Index(8 * i), lane, i % kXxhStripesPerBlock * 8);
    if (i % kXxhStripesPerBlock == kXxhStripesPerBlock - 1) {
      sum = (sum ^ sum >> 47 ^ Secret(128 + 8 * lane)) * kXxhPrime32_1;
    }
  }
  // The last 64 bytes, whatever was read of them.
  Accumulate(sum, words + sk::Index(bytes / 8 - 8), lane, 121);

  const std::uint64_t mine = sum ^ Secret(11 + 8 * lane);
  const std::uint64_t others = ShuffleXor64(mine, 1, mask);
  std::uint64_t merged = FoldProduct(mine, others);  // the same in both lanes of a pair
  merged += ShuffleXor64(merged, 2, mask);
  merged += ShuffleXor64(merged, 4, mask);
  return Avalanche(bytes * kXxhPrime1 + merged);
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_COPY_XXH3_H_
