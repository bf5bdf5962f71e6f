#ifndef CAIRN_KERNELS_SK_EMU_RANDOM_H_
#define CAIRN_KERNELS_SK_EMU_RANDOM_H_

#include <cstdint>

namespace cairn::sk::emu {

// Random is a small fast generator (xorshift64*, seeded by splitmix64): schedules, not statistics.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    seed += 0x9e3779b97f4a7c15u;
    seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ seed >> 27) * 0x94d049bb133111ebu;
    state_ = (seed ^ seed >> 31) | 1;
  }
  std::uint64_t Next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  // From 0 to bound - 1.
  std::uint32_t Below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((Next() >> 32) * bound >> 32);
  }
  bool OneIn(std::uint32_t n) { return n != 0 && Below(n) == 0; }  // 0: never

 private:
  std::uint64_t state_;
};

}  // namespace cairn::sk::emu

#endif  // CAIRN_KERNELS_SK_EMU_RANDOM_H_
