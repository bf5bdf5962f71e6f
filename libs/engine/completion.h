#ifndef CAIRN_LIBS_ENGINE_COMPLETION_H_
#define CAIRN_LIBS_ENGINE_COMPLETION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "libs/base/strong_id.h"
#include "libs/engine/sampler.h"
#include "libs/ports/plan_source.h"
#include "libs/span/prompt_hasher.h"

namespace cairn {

using CompletionId = StrongId<struct CompletionIdTag, std::uint64_t>;

// One request to an engine, its text already tokens.
struct CompletionCall {
  PromptHasher prompt;            // ended; under the root and block size of this worker
  std::uint32_t max_tokens = 16;  // 0: compute and store the prompt's KV, answer nothing
  SamplingOptions sampling;
  std::vector<std::string> stops;
};

enum class FinishReason : std::uint8_t {
  kStop,       // end of text, or a stop string
  kLength,     // max_tokens
  kCancelled,  // Cancel, or the engine is stopping
  kFailed,     // the device could not do it: the text says why
};

// What an answer cost.
struct CompletionUsage {
  struct Span {
    std::uint32_t tokens = 0;
    std::uint32_t tokens_reused = 0;
  };
  std::uint32_t prompt_tokens = 0;
  std::uint32_t completion_tokens = 0;
  std::uint32_t tokens_reused = 0;    // prompt tokens whose KV was found
  std::uint64_t tokens_computed = 0;  // prompt rows computed, again where a block was lost
  std::vector<Span> spans;            // the prompt's spans, in order
  bool ignored_spans = false;         // the model has no spans: the prompt was one prefix
  absl::Duration time_to_first_token;
  std::uint32_t overlap_depth = 0;  // tokens in common with an earlier prompt, stored or not
  // Where recurrent states of the prompt are wanted; none if nobody was asked, or has answered yet.
  std::optional<CheckpointPlan> checkpoints;
};

// Receives an answer. Called on the engine's thread: hand over and return.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  // Whether OnLogits is to be called: asked once. Greedy answers else never move logits.
  virtual bool wants_logits() const { return false; }
  // The logits that the next token is chosen from, before OnToken: for tests of exactness.
  virtual void OnLogits(absl::Span<const float>) {}
  // The next token, and the text that it makes visible (maybe none yet).
  virtual void OnToken(Token token, absl::string_view text) = 0;
  // The last call. `text` is what was still held back, or why it failed.
  virtual void OnFinish(FinishReason reason, absl::string_view text,
                        const CompletionUsage& usage) = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_ENGINE_COMPLETION_H_
