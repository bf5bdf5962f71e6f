#ifndef CAIRN_LIBS_BASE_RNG_H_
#define CAIRN_LIBS_BASE_RNG_H_

#include <cstdint>

namespace cairn {

// Rng is a small seeded generator (splitmix64): the same seed gives the same numbers on every
// machine. For simulation, tests, jitter and sampling; never for secrets (RandomBytes).
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next();
  // Uniform in [0, bound); bound > 0.
  std::uint64_t Below(std::uint64_t bound);
  // Uniform in [low, high], both included.
  std::uint64_t Between(std::uint64_t low, std::uint64_t high) {
    return low + Below(high - low + 1);
  }
  // True with probability `numerator` / `denominator`.
  bool Chance(std::uint64_t numerator, std::uint64_t denominator) {
    return Below(denominator) < numerator;
  }
  // Uniform in [0, 1), 53 bits.
  double Unit();

 private:
  std::uint64_t state_;
};

// One step of splitmix64's output function: a stateless mix, for numbers that must be a function of
// (seed, choice, index) and nothing else.
std::uint64_t Mix64(std::uint64_t value);

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_RNG_H_
