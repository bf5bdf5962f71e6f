#ifndef CAIRN_LIBS_BASE_HEX_H_
#define CAIRN_LIBS_BASE_HEX_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cairn {

// Lower-case hex of raw bytes.
std::string ToHex(absl::string_view bytes);
// Raw bytes of a hex string (either case); INVALID_ARGUMENT on an odd length or another character.
absl::StatusOr<std::string> FromHex(absl::string_view hex);

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_HEX_H_
