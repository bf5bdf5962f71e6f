#ifndef CAIRN_LIBS_PLACEMENT_SAVED_COUNTS_H_
#define CAIRN_LIBS_PLACEMENT_SAVED_COUNTS_H_

#include "libs/base/bytes.h"

namespace cairn::placement {

// Faded counts as bytes. What is read is finite, not negative and at most kSavedCountMax; anything
// else reads as 0 and leaves the reader marked bad, so that no law is ever built on a NaN.
inline constexpr double kSavedCountMax = 1e15;

void PutCount(ByteWriter& out, double count);
double GetSavedCount(ByteReader& in);

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_SAVED_COUNTS_H_
