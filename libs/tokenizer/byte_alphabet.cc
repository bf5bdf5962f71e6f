#include "libs/tokenizer/byte_alphabet.h"

#include "libs/base/utf8.h"

namespace cairn {
namespace {

bool IsPrintable(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

// Characters below U+0800: all that the alphabet has.
std::string Utf8Of(int character) {
  if (character < 0x80) return std::string(1, static_cast<char>(character));
  return {static_cast<char>(0xC0 | character >> 6), static_cast<char>(0x80 | (character & 0x3F))};
}

}  // namespace

ByteAlphabet::ByteAlphabet() {
  int other = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    characters_[byte] = Utf8Of(IsPrintable(byte) ? byte : other++);
    byte_of_[characters_[byte]] = static_cast<std::uint8_t>(byte);
  }
}

absl::optional<std::string> ByteAlphabet::BytesOf(absl::string_view written) const {
  std::string out;
  while (!written.empty()) {
    const std::size_t bytes = NextUtf8(written).bytes;
    const auto at = byte_of_.find(written.substr(0, bytes));
    if (at == byte_of_.end()) return absl::nullopt;
    out.push_back(static_cast<char>(at->second));
    written.remove_prefix(bytes);
  }
  return out;
}

}  // namespace cairn
