#include "libs/base/utf8.h"

#include <cstdint>

namespace cairn {
namespace {

// What the first byte of a character says: how many bytes follow, and the range of the second.
struct Lead {
  std::size_t following = 0;
  std::uint8_t second_min = 0x80;
  std::uint8_t second_max = 0xBF;
  bool is_valid = false;
};

Lead LeadOf(std::uint8_t byte) {
  if (byte < 0x80) return {0, 0x80, 0xBF, true};
  if (byte < 0xC2) return {};  // a following byte, or an overlong form
  if (byte < 0xE0) return {1, 0x80, 0xBF, true};
  if (byte == 0xE0) return {2, 0xA0, 0xBF, true};
  if (byte == 0xED) return {2, 0x80, 0x9F, true};  // no surrogates
  if (byte < 0xF0) return {2, 0x80, 0xBF, true};
  if (byte == 0xF0) return {3, 0x90, 0xBF, true};
  if (byte < 0xF4) return {3, 0x80, 0xBF, true};
  if (byte == 0xF4) return {3, 0x80, 0x8F, true};
  return {};
}

}  // namespace

Utf8Step NextUtf8(absl::string_view text) {
  const Lead lead = LeadOf(static_cast<std::uint8_t>(text[0]));
  if (!lead.is_valid) return {Utf8Step::Kind::kBroken, 1};
  for (std::size_t i = 1; i <= lead.following; ++i) {
    if (i == text.size()) return {Utf8Step::Kind::kCut, i};
    const std::uint8_t byte = static_cast<std::uint8_t>(text[i]);
    const std::uint8_t low = i == 1 ? lead.second_min : 0x80;
    const std::uint8_t high = i == 1 ? lead.second_max : 0xBF;
    if (byte < low || byte > high) return {Utf8Step::Kind::kBroken, i};
  }
  return {Utf8Step::Kind::kCharacter, lead.following + 1};
}

std::size_t Utf8PrefixBytes(absl::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Step step = NextUtf8(text.substr(at));
    if (step.kind != Utf8Step::Kind::kCharacter) break;
    at += step.bytes;
  }
  return at;
}

std::size_t WholeUtf8Bytes(absl::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const Utf8Step step = NextUtf8(bytes.substr(at));
    if (step.kind == Utf8Step::Kind::kCut) break;
    at += step.bytes;
  }
  return at;
}

std::string ToUtf8(absl::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const Utf8Step step = NextUtf8(bytes);
    const bool is_character = step.kind == Utf8Step::Kind::kCharacter;
    const absl::string_view text =
        is_character ? bytes.substr(0, step.bytes) : kReplacementCharacter;
    out.append(text.data(), text.size());
    bytes.remove_prefix(step.bytes);
  }
  return out;
}

}  // namespace cairn
