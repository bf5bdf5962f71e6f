#include "libs/engine/text_stream.h"

#include <algorithm>

namespace cairn {
namespace {

// Bytes that a character starting with `lead` has; 0 if no character starts so.
std::size_t SequenceBytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

// Length of the well-formed character at `at`, 0 if there is none (also when it is cut short).
std::size_t CharacterAt(absl::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[at + i]); };
  const std::size_t length = SequenceBytes(byte(0));
  if (length == 0 || bytes.size() - at < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and values above U+10FFFF show in the second byte.
  if (byte(0) == 0xe0 && byte(1) < 0xa0) return 0;
  if (byte(0) == 0xed && byte(1) > 0x9f) return 0;
  if (byte(0) == 0xf0 && byte(1) < 0x90) return 0;
  if (byte(0) == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

}  // namespace

std::size_t WholeCharacters(absl::string_view bytes) {
  for (std::size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const auto lead = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if ((lead & 0xc0) == 0x80) continue;  // goes on: look for its lead byte
    return SequenceBytes(lead) > back ? bytes.size() - back : bytes.size();
  }
  return bytes.size();
}

std::string ToValidUtf8(absl::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = CharacterAt(bytes, at);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      ++at;
    } else {
      out.append(bytes.data() + at, length);
      at += length;
    }
  }
  return out;
}

std::string TextStream::Push(absl::string_view bytes) {
  if (stopped_) return "";
  held_.append(bytes.data(), bytes.size());
  std::size_t stop_at = std::string::npos;
  for (const std::string& stop : stops_) stop_at = std::min(stop_at, held_.find(stop));
  if (stop_at != std::string::npos) {
    stopped_ = true;
    std::string shown = ToValidUtf8(absl::string_view(held_).substr(0, stop_at));
    held_.clear();
    return shown;
  }
  std::size_t showable = held_.size();
  for (const std::string& stop : stops_) {  // a tail that begins a stop string waits
    for (std::size_t tail = std::min(stop.size() - 1, held_.size()); tail > 0; --tail) {
      if (held_.compare(held_.size() - tail, tail, stop, 0, tail) == 0) {
        showable = std::min(showable, held_.size() - tail);
        break;
      }
    }
  }
  showable = WholeCharacters(absl::string_view(held_).substr(0, showable));
  std::string shown = ToValidUtf8(absl::string_view(held_).substr(0, showable));
  held_.erase(0, showable);
  return shown;
}

std::string TextStream::Finish() {
  std::string shown = ToValidUtf8(held_);
  held_.clear();
  return shown;
}

}  // namespace cairn
