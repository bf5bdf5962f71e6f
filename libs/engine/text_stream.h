#ifndef CAIRN_LIBS_ENGINE_TEXT_STREAM_H_
#define CAIRN_LIBS_ENGINE_TEXT_STREAM_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cairn {

// TextStream turns the bytes of generated tokens into text that may be shown: whole UTF-8
// characters only, nothing of a stop string, and nothing that might yet become one.
class TextStream {
 public:
  explicit TextStream(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // Adds a token's bytes; returns what may be shown now. After stopped(), nothing more.
  std::string Push(absl::string_view bytes);
  // The end of the answer: whatever was held back. Bytes that are no UTF-8 become U+FFFD.
  std::string Finish();
  // A stop string has been completed; it and what follows is not shown.
  bool stopped() const { return stopped_; }

 private:
  std::string held_;  // not shown yet
  std::vector<std::string> stops_;
  bool stopped_ = false;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_ENGINE_TEXT_STREAM_H_
