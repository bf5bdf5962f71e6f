#ifndef CAIRN_LIBS_PORTS_TOKENIZER_H_
#define CAIRN_LIBS_PORTS_TOKENIZER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cairn {

// TextTokenizer turns text into a model's tokens and back. Threads: any, at once.
class TextTokenizer {
 public:
  virtual ~TextTokenizer() = default;
  // Text never yields a control token, whatever it spells. INVALID_ARGUMENT if it is too long.
  virtual absl::StatusOr<std::vector<std::uint32_t>> EncodeText(absl::string_view text) const = 0;
  // The bytes of one token: maybe not whole UTF-8. Empty for control tokens and unknown ids.
  virtual std::string TokenBytes(std::uint32_t token) const = 0;
  // Generation ends with it.
  virtual bool IsEndOfText(std::uint32_t token) const = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PORTS_TOKENIZER_H_
