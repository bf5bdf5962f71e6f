#include "libs/tokenizer/stream_decoder.h"

#include <utility>

#include "libs/tokenizer/utf8.h"

namespace cairn {

std::string StreamDecoder::Push(std::uint32_t id) {
  const absl::string_view bytes = tokenizer_.BytesOf(id);
  pending_.append(bytes.data(), bytes.size());
  absl::string_view rest = pending_;
  // Only the last bytes can be cut; all before them are decided.
  std::size_t decided = 0;
  while (decided < rest.size()) {
    const Utf8Step step = NextUtf8(rest.substr(decided));
    if (step.kind == Utf8Step::Kind::kCut) break;
    decided += step.bytes;
  }
  std::string out = ToUtf8(rest.substr(0, decided));
  pending_.erase(0, decided);
  return out;
}

std::string StreamDecoder::Flush() { return ToUtf8(std::exchange(pending_, std::string())); }

}  // namespace cairn
