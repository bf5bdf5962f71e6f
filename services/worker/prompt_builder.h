#ifndef CAIRN_SERVICES_WORKER_PROMPT_BUILDER_H_
#define CAIRN_SERVICES_WORKER_PROMPT_BUILDER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "libs/completions/completion_json.h"
#include "libs/ports/tokenizer.h"
#include "libs/span/segments.h"

namespace cairn {

// The segments of a request as tokens: adjacent text that is one segment (keys.md, rules 4 and 8)
// is joined before it is tokenised, so that where a client cuts its text changes no token.
// INVALID_ARGUMENT naming the segment for a token that the vocabulary lacks.
absl::StatusOr<std::vector<PromptSegment>> BuildPrompt(
    const std::vector<CompletionSegment>& segments, const TextTokenizer& tokenizer,
    std::uint32_t vocabulary, bool spans);

}  // namespace cairn
#endif  // CAIRN_SERVICES_WORKER_PROMPT_BUILDER_H_
