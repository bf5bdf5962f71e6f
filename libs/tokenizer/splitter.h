#ifndef CAIRN_LIBS_TOKENIZER_SPLITTER_H_
#define CAIRN_LIBS_TOKENIZER_SPLITTER_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cairn {

// Splitter cuts text into the pieces that merges may not cross. The pieces, one after the other,
// are the text. Threads: const after Create; any number of callers.
class Splitter {
 public:
  // `rules` as in tokenizer.ggml.pre:
  //   gpt-2   English contractions; letters, digits or other characters, each run with one space
  //           before it; white space, of which the last is left to what follows
  //   smollm  first every digit alone, then as gpt-2 inside each part between digits
  // UNIMPLEMENTED for any other name, listing these.
  static absl::StatusOr<Splitter> Create(absl::string_view rules);
  Splitter(Splitter&&) noexcept;
  ~Splitter();

  // Calls `piece` for each piece of `text`, which is well-formed UTF-8.
  // INTERNAL when the matcher gives up (out of memory).
  absl::Status Split(absl::string_view text,
                     absl::FunctionRef<void(absl::string_view)> piece) const;

 private:
  struct Pattern;
  explicit Splitter(std::unique_ptr<Pattern> pattern);
  std::unique_ptr<Pattern> pattern_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_TOKENIZER_SPLITTER_H_
