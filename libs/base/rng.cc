#include "libs/base/rng.h"

#include "libs/base/check.h"

namespace cairn {

// Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators (OOPSLA 2014), constants of
// Stafford's Mix13.
std::uint64_t Mix64(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

std::uint64_t Rng::Next() { return Mix64(state_ += 0x9e3779b97f4a7c15u); }

std::uint64_t Rng::Below(std::uint64_t bound) {
  CAIRN_CHECK(bound > 0);
  // Multiply-shift; the bias is below bound / 2^64.
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
}

double Rng::Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

}  // namespace cairn
