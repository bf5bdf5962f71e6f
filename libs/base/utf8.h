#ifndef CAIRN_LIBS_BASE_UTF8_H_
#define CAIRN_LIBS_BASE_UTF8_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace cairn {

// What the next bytes of a text are.
struct Utf8Step {
  enum class Kind {
    kCharacter,  // one character
    kBroken,     // cannot be one: the longest start of a character, or a single byte
    kCut,        // all that is left, and the start of a character
  };
  Kind kind = Kind::kBroken;
  std::size_t bytes = 1;
};

// The first step of `text`, which is not empty. Well-formed is the Unicode standard's table 3-7: no
// surrogates, no overlong forms, nothing above U+10FFFF.
Utf8Step NextUtf8(absl::string_view text);

// The length of the longest well-formed start of `text`.
std::size_t Utf8PrefixBytes(absl::string_view text);

// The length of `bytes` without a character that is cut at their end.
std::size_t WholeUtf8Bytes(absl::string_view bytes);

// `bytes` with U+FFFD for each broken part (Python's errors="replace" gives the same).
std::string ToUtf8(absl::string_view bytes);

inline constexpr absl::string_view kReplacementCharacter = "\xEF\xBF\xBD";

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_UTF8_H_
