#include "services/worker/prompt_builder.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

bool IsEmpty(const CompletionSegment& segment) {
  return segment.text.has_value() ? segment.text->empty() : segment.tokens.empty();
}

// Gathers one run of joined segments; text waits until it cannot grow any more.
class Run {
 public:
  Run(const TextTokenizer& tokenizer, std::uint32_t vocabulary)
      : tokenizer_(tokenizer), vocabulary_(vocabulary) {}

  absl::Status Add(const CompletionSegment& segment, std::size_t index, PromptSegment* out) {
    if (segment.text.has_value()) {
      text_ += *segment.text;
      return absl::OkStatus();
    }
    CAIRN_RETURN_IF_ERROR(Flush(out));
    for (const std::uint32_t token : segment.tokens) {
      if (token >= vocabulary_) {
        return absl::InvalidArgumentError(absl::StrCat("segment ", index, ": token ", token,
                                                       " is not below the vocabulary's size, ",
                                                       vocabulary_));
      }
    }
    out->tokens.insert(out->tokens.end(), segment.tokens.begin(), segment.tokens.end());
    return absl::OkStatus();
  }
  absl::Status Flush(PromptSegment* out) {
    if (text_.empty()) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> tokens, tokenizer_.EncodeText(text_));
    out->tokens.insert(out->tokens.end(), tokens.begin(), tokens.end());
    text_.clear();
    return absl::OkStatus();
  }

 private:
  const TextTokenizer& tokenizer_;
  const std::uint32_t vocabulary_;
  std::string text_;
};

}  // namespace

absl::StatusOr<std::vector<PromptSegment>> BuildPrompt(
    const std::vector<CompletionSegment>& segments, const TextTokenizer& tokenizer,
    std::uint32_t vocabulary, bool spans) {
  std::vector<SegmentOutline> outlines;
  for (const CompletionSegment& segment : segments) {
    CAIRN_ASSIGN_OR_RETURN(const SegmentKind kind, ParseSegmentKind(segment.kind));
    outlines.push_back({.kind = kind, .base = segment.base, .is_empty = IsEmpty(segment)});
  }
  const std::vector<bool> joins = FindJoins(outlines, spans);
  std::vector<PromptSegment> prompt;
  Run run(tokenizer, vocabulary);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (outlines[i].is_empty) continue;
    if (prompt.empty() || !joins[i]) {
      if (!prompt.empty()) CAIRN_RETURN_IF_ERROR(run.Flush(&prompt.back()));
      prompt.push_back({.head = {.kind = outlines[i].kind, .base = segments[i].base}});
    }
    CAIRN_RETURN_IF_ERROR(run.Add(segments[i], i, &prompt.back()));
  }
  if (!prompt.empty()) CAIRN_RETURN_IF_ERROR(run.Flush(&prompt.back()));
  return prompt;
}

}  // namespace cairn
