#ifndef CAIRN_LIBS_SPAN_HASH_TAG_H_
#define CAIRN_LIBS_SPAN_HASH_TAG_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace cairn {

// The bytes that separate one kind of hash from another: the text and one zero byte.
template <std::size_t N>
constexpr absl::string_view HashTag(const char (&text)[N]) {
  return absl::string_view(text, N);  // N counts the literal's own zero
}

}  // namespace cairn
#endif  // CAIRN_LIBS_SPAN_HASH_TAG_H_
