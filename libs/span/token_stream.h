#ifndef CAIRN_LIBS_SPAN_TOKEN_STREAM_H_
#define CAIRN_LIBS_SPAN_TOKEN_STREAM_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/span/prompt_hasher.h"
#include "libs/span/segments.h"

// The token-stream form of a prompt: one run of tokens in which the model's configured ids begin
// segments. An id counts only as the first token of a block (block_tokens tokens of the stream),
// and is itself the segment's first token. PAD is an ordinary token and needs no rule.

namespace cairn {

struct StreamIds {
  Token ssep = 0;  // begins a span
  Token pdep = 0;  // begins a dependent segment
};

// Appends prompt tokens in stream form, in any pieces. After prompt.EndPrompt() use prompt.Append:
// a generated token is never special. Do not mix with BeginSegment. INVALID_ARGUMENT if the ids are
// equal.
absl::Status AppendStream(PromptHasher& prompt, const StreamIds& ids,
                          absl::Span<const Token> tokens);

// A whole stream at once, ended.
absl::StatusOr<PromptHasher> HashStream(const Root& root, const PromptOptions& options,
                                        const StreamIds& ids, absl::Span<const Token> tokens);

}  // namespace cairn
#endif  // CAIRN_LIBS_SPAN_TOKEN_STREAM_H_
