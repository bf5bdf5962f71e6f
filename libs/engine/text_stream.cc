#include "libs/engine/text_stream.h"

#include <algorithm>

#include "libs/base/utf8.h"

namespace cairn {

std::string TextStream::Push(absl::string_view bytes) {
  if (stopped_) return "";
  held_.append(bytes.data(), bytes.size());
  std::size_t stop_at = std::string::npos;
  for (const std::string& stop : stops_) stop_at = std::min(stop_at, held_.find(stop));
  if (stop_at != std::string::npos) {
    stopped_ = true;
    std::string shown = ToUtf8(absl::string_view(held_).substr(0, stop_at));
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
  showable = WholeUtf8Bytes(absl::string_view(held_).substr(0, showable));
  std::string shown = ToUtf8(absl::string_view(held_).substr(0, showable));
  held_.erase(0, showable);
  return shown;
}

std::string TextStream::Finish() {
  std::string shown = ToUtf8(held_);
  held_.clear();
  return shown;
}

}  // namespace cairn
