#ifndef CAIRN_LIBS_TOKENIZER_BYTE_ALPHABET_H_
#define CAIRN_LIBS_TOKENIZER_BYTE_ALPHABET_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace cairn {

// ByteAlphabet is how vocabularies of byte-level BPE write bytes as printable characters: the
// printable ones of Latin-1 stand for themselves, the other 68 are U+0100 and up, in byte order (a
// space is U+0120).
class ByteAlphabet {
 public:
  ByteAlphabet();
  // The character (as UTF-8) that stands for `byte`.
  absl::string_view CharacterOf(std::uint8_t byte) const { return characters_[byte]; }
  // The bytes that `written` stands for; nothing if a character of it is not in the alphabet.
  absl::optional<std::string> BytesOf(absl::string_view written) const;

 private:
  std::array<std::string, 256> characters_;
  absl::flat_hash_map<std::string, std::uint8_t> byte_of_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_TOKENIZER_BYTE_ALPHABET_H_
