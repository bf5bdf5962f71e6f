#ifndef CAIRN_LIBS_COMPLETIONS_COMPLETION_JSON_H_
#define CAIRN_LIBS_COMPLETIONS_COMPLETION_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// The JSON of POST /v1/completions: OpenAI's shape, with the extension `segments` and the answer's
// `usage.cairn`. Pure text in, text out; Boost.JSON stays in the .cc.

namespace cairn {

// A segment as given: text or tokens.
struct CompletionSegment {
  std::string kind;  // "prefix", "span", "dependent": checked
  std::optional<std::string> text;
  std::vector<std::uint32_t> tokens;  // where there is no text
  std::optional<std::uint64_t> base;
};

struct CompletionBody {
  std::string model;
  std::vector<CompletionSegment> segments;  // `prompt` is one prefix segment
  std::uint32_t max_tokens = 16;
  double temperature = 1;
  double top_p = 1;
  std::uint64_t seed = 0;
  bool has_seed = false;
  std::vector<std::string> stops;
  bool stream = false;
  bool stream_usage = false;  // stream_options.include_usage
};

// INVALID_ARGUMENT naming the field for: text that is no JSON (with its place), a wrong type, what
// is out of range or over its limit, a field that nobody knows, `prompt` and `segments` both or
// neither, and OpenAI's options that this worker does not have (n, best_of, logprobs, echo, suffix,
// logit_bias, penalties) unless they have the value that changes nothing.
absl::StatusOr<CompletionBody> ParseCompletion(absl::string_view json);

// What usage.cairn tells.
struct CompletionReport {
  std::string id;
  std::string model;
  std::int64_t created = 0;   // seconds since 1970
  std::string finish_reason;  // "stop", "length"; empty while it goes on
  std::uint32_t prompt_tokens = 0;
  std::uint32_t completion_tokens = 0;
  std::uint32_t tokens_reused_local = 0;
  std::uint64_t tokens_computed = 0;
  struct Span {
    std::uint32_t tokens = 0;
    std::uint32_t tokens_reused = 0;
  };
  std::vector<Span> spans;
  bool ignored_spans = false;
  double ttft_ms = 0;
  std::uint32_t overlap_depth = 0;
  // Where recurrent states of the prompt are wanted, if anybody has said so.
  struct Checkpoints {
    std::vector<std::uint64_t> positions;
    std::string source;  // "service", "cached", "balanced"
  };
  std::optional<Checkpoints> checkpoints;
};

// A whole answer. `tokens` are the generated ids (usage.cairn.completion_token_ids).
std::string CompletionToJson(const CompletionReport& report, absl::string_view text,
                             const std::vector<std::uint32_t>& tokens);
// One server-sent event of a stream: "data: {...}\n\n". With a finish_reason it is the last one of
// the text; `with_usage` adds the usage.
std::string CompletionEvent(const CompletionReport& report, absl::string_view text, bool with_usage,
                            const std::vector<std::uint32_t>& tokens);
inline constexpr char kStreamEnd[] = "data: [DONE]\n\n";

// OpenAI's error shape, and the HTTP status that goes with a code.
std::string ErrorToJson(const absl::Status& status);
int HttpStatusOf(const absl::Status& status);
// GET /v1/models.
std::string ModelsToJson(absl::string_view model, std::int64_t created);

}  // namespace cairn
#endif  // CAIRN_LIBS_COMPLETIONS_COMPLETION_JSON_H_
