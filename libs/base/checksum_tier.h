#ifndef CAIRN_LIBS_BASE_CHECKSUM_TIER_H_
#define CAIRN_LIBS_BASE_CHECKSUM_TIER_H_

#include <cstddef>
#include <cstdint>

// The checksum's inner loop, compiled once for each instruction set; checksum.cc picks one at
// start. XXH3 is defined independently of the vector width, so all give equal values.
namespace cairn::checksum_internal {

// Copies `bytes` from `source` to `target` piece by piece (no copy where both are equal) and
// writes the sum of each piece of `target` to `sums`.
using SumFunction = void (*)(unsigned char* target, const unsigned char* source, std::size_t bytes,
                             std::uint64_t* sums);
void SumPlain(unsigned char* target, const unsigned char* source, std::size_t bytes,
              std::uint64_t* sums);
void SumAvx2(unsigned char* target, const unsigned char* source, std::size_t bytes,
             std::uint64_t* sums);

}  // namespace cairn::checksum_internal
#endif  // CAIRN_LIBS_BASE_CHECKSUM_TIER_H_
