#ifndef CAIRN_LIBS_BASE_UNITS_H_
#define CAIRN_LIBS_BASE_UNITS_H_

#include <cstdint>

namespace cairn {

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;
inline constexpr std::uint64_t kGiB = 1024 * kMiB;

// The alignment of every stored block, and of the pieces its checksum is made of.
inline constexpr std::uint64_t kPieceBytes = 4 * kKiB;

constexpr std::uint64_t RoundUp(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
constexpr std::uint64_t CeilDiv(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_UNITS_H_
