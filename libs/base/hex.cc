#include "libs/base/hex.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace cairn {

std::string ToHex(absl::string_view bytes) { return absl::BytesToHexString(bytes); }

absl::StatusOr<std::string> FromHex(absl::string_view hex) {
  if (hex.size() % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat("hex string of odd length ", hex.size()));
  }
  for (std::size_t i = 0; i < hex.size(); ++i) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(hex[i]))) {
      return absl::InvalidArgumentError(absl::StrCat("not a hex digit at character ", i));
    }
  }
  return absl::HexStringToBytes(hex);
}

}  // namespace cairn
