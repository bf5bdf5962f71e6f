#ifndef CAIRN_LIBS_SPAN_PROMPT_LAYOUT_H_
#define CAIRN_LIBS_SPAN_PROMPT_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "libs/span/segments.h"

namespace cairn {

struct PromptOptions {
  std::uint32_t block_tokens =
      0;                      // Required, >= 1. Blocks have so many tokens, but a segment's last.
  bool spans = true;          // The model's capability. False: the prompt is one prefix segment.
  bool prefill_only = false;  // Nothing will be generated: the prompt may end in a span.
  // How many positions the model has; base + length beyond it is refused.
  std::uint64_t positions_max = std::numeric_limits<std::int64_t>::max();
};

// A segment after normalisation. There is at most one prefix segment, and it is the first.
struct NormalSegment {
  SegmentKind kind = SegmentKind::kPrefix;  // effective
  std::uint32_t first_token = 0;            // index in tokens()
  std::uint32_t token_count = 0;            // > 0
  std::uint64_t position = 0;               // absolute, of its first token
  std::uint32_t first_block = 0;            // index in blocks()
  std::uint32_t block_count = 0;
  std::uint32_t first_extra = 0;  // index in extras()
  std::uint32_t extra_count = 0;

  // Its queries attend its own tokens only; those of any other segment attend everything before.
  bool sees_only_itself() const { return kind == SegmentKind::kSpan; }
  // Its keys name no position and nothing before it: they hit at any offset, after anything.
  bool is_context_free() const { return kind != SegmentKind::kDependent; }
};

// How a block begins; the values are hashed.
enum class BlockStart : std::uint8_t { kGoesOn = 0, kSpan = 1, kDependent = 2 };

struct PromptBlock {
  std::uint32_t segment = 0;               // index in segments()
  BlockStart start = BlockStart::kGoesOn;  // kGoesOn also for the first block of a prefix
  bool is_context_free = true;             // as its segment
  std::uint32_t first_token = 0;           // index in tokens()
  std::uint32_t token_count = 0;           // 1 to block_tokens; less than that: ragged
  std::uint64_t position = 0;              // absolute, of its first token
  std::optional<std::uint32_t> parent;     // the block before it in its chain; none for the first
  std::uint32_t chain_depth = 0;  // tokens from its chain's first token to its own last one

  // Tokens from the start of the prompt to the end of the block: the depth of a state taken there.
  std::uint32_t depth() const { return first_token + token_count; }
};

// PromptLayout turns a prompt into normalised segments and blocks by the rules of
// libs/span/README.md, while its tokens arrive in any pieces. A chain of blocks is one segment.
//
// Invariants:
//   1. segments(), blocks() and tokens() always describe all tokens appended so far; only the last
//      block can still grow.
//   2. The same segments give the same layout however their tokens were cut into calls.
// Errors:  INVALID_ARGUMENT naming the segment (as given, from 0) and the fault. A failed call
// changes
//          nothing that can be read, and every later call returns the same error.
// Threads: one at a time. Owns its tokens and extras. All sizes are bounded by base/limits.h.
class PromptLayout {
 public:
  explicit PromptLayout(const PromptOptions& options);

  // Ends the segment before and begins one. Tokens appended before the first call are a prefix. A
  // segment that gets no token vanishes with its kind and base. Not after EndPrompt.
  absl::Status BeginSegment(SegmentHead head);
  // More tokens of the current segment; after EndPrompt: generated ones, which go on with the last
  // segment. Append a generated token when it is fed back, not when it is sampled: a block exists
  // only if the KV of all its tokens does (rule 9).
  absl::Status Append(absl::Span<const Token> tokens);
  // The prompt is complete. Refuses one that ends in a span, unless prefill_only.
  absl::Status EndPrompt();

  const std::vector<Token>& tokens() const { return tokens_; }
  const std::vector<NormalSegment>& segments() const { return segments_; }
  const std::vector<PromptBlock>& blocks() const { return blocks_; }
  // Of all segments in order; `first` counts from the normalised segment's first token, ascending.
  const std::vector<Extra>& extras() const { return extras_; }
  const PromptOptions& options() const { return options_; }
  bool has_ended() const { return has_ended_; }
  // A span was asked for, but the model lacks the capability, so it became plain text.
  bool ignored_spans() const { return ignored_spans_; }

  absl::Span<const Token> TokensOf(const PromptBlock& block) const {
    return absl::MakeConstSpan(tokens_).subspan(block.first_token, block.token_count);
  }
  bool IsRagged(std::size_t block) const {
    return blocks_[block].token_count < options_.block_tokens;
  }
  // No token can still join it: it is full, or its segment is over. Its key is final.
  bool IsClosed(std::size_t block) const { return block + 1 < blocks_.size() || !IsRagged(block); }
  // Rule 3: a full block, or a ragged one whose segment is complete: another segment follows, or a
  // prefill-only prompt has ended in a span. (That its KV has been computed is the caller's to
  // know.)
  bool MayOffer(std::size_t block) const;

 private:
  // The segment being appended to, as its author gave it.
  struct Given {
    std::size_t index = 0;
    SegmentHead head;                // its extras move to extras_ with the first token
    std::uint64_t extras_end = 0;    // the furthest token that an extra claims, plus one
    std::size_t furthest_extra = 0;  // that extra's index
    std::uint32_t token_count = 0;   // 0: it may still vanish
  };
  absl::Status Fail(std::size_t segment, absl::string_view fault);
  absl::Status FailOutside(std::size_t segment, std::size_t extra);
  absl::Status EndGiven();
  absl::Status Place(Given& given, std::uint64_t position);
  absl::Status CountOverlaps(const Given& given, std::uint32_t offset);
  void AddTokens(absl::Span<const Token> tokens);
  void AddBlock(NormalSegment& segment);
  std::uint64_t NextPosition() const;  // where the next token stands if no base moves it

  PromptOptions options_;
  std::vector<Token> tokens_;
  std::vector<NormalSegment> segments_;
  std::vector<PromptBlock> blocks_;
  std::vector<Extra> extras_;
  absl::Status status_;  // the first error, kept
  std::optional<Given> given_;
  std::size_t given_segments_ = 0;
  std::size_t last_filled_ = 0;  // index, as given, of the last segment with a token
  std::size_t extra_overlaps_ = 0;
  bool after_cut_ = false;  // a span or a base that moved its segment has come
  bool has_ended_ = false;
  bool ignored_spans_ = false;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_SPAN_PROMPT_LAYOUT_H_
