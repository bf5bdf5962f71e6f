#include "libs/placement/saved_counts.h"

#include <bit>
#include <cstdint>

namespace cairn::placement {

void PutCount(ByteWriter& out, double count) { out.Put(std::bit_cast<std::uint64_t>(count)); }

double GetSavedCount(ByteReader& in) {
  const double count = std::bit_cast<double>(in.Get<std::uint64_t>());
  if (count >= 0 && count <= kSavedCountMax) return count;  // no NaN
  in.MarkBad();
  return 0;
}

}  // namespace cairn::placement
