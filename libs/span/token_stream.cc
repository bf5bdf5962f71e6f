#include "libs/span/token_stream.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"

namespace cairn {

absl::Status AppendStream(PromptHasher& prompt, const StreamIds& ids,
                          absl::Span<const Token> tokens) {
  if (ids.ssep == ids.pdep) {
    return absl::InvalidArgumentError(absl::StrCat("ssep and pdep are both ", ids.ssep));
  }
  const std::size_t block_tokens = prompt.layout().options().block_tokens;
  while (!tokens.empty()) {
    // Every segment begins on a block of the stream, so blocks of segments and of the stream agree.
    const std::size_t in_block = prompt.layout().tokens().size() % block_tokens;
    if (in_block == 0 && tokens[0] == ids.ssep) {
      CAIRN_RETURN_IF_ERROR(prompt.BeginSegment({.kind = SegmentKind::kSpan}));
    } else if (in_block == 0 && tokens[0] == ids.pdep) {
      CAIRN_RETURN_IF_ERROR(prompt.BeginSegment({.kind = SegmentKind::kDependent}));
    }
    const std::size_t take = std::min(tokens.size(), block_tokens - in_block);
    CAIRN_RETURN_IF_ERROR(prompt.Append(tokens.first(take)));
    tokens.remove_prefix(take);
  }
  return absl::OkStatus();
}

absl::StatusOr<PromptHasher> HashStream(const Root& root, const PromptOptions& options,
                                        const StreamIds& ids, absl::Span<const Token> tokens) {
  PromptHasher prompt(root, options);
  CAIRN_RETURN_IF_ERROR(AppendStream(prompt, ids, tokens));
  CAIRN_RETURN_IF_ERROR(prompt.EndPrompt());
  return prompt;
}

}  // namespace cairn
