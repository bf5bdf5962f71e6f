#ifndef CAIRN_LIBS_SPAN_SEGMENTS_H_
#define CAIRN_LIBS_SPAN_SEGMENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

// A prompt as its author wrote it, before normalisation (prompt_layout.h).

namespace cairn {

using Token = std::uint32_t;

// What the tokens of a segment attend: a span's only their own segment, the others' everything
// before.
enum class SegmentKind : std::uint8_t { kPrefix = 0, kSpan = 1, kDependent = 2 };

absl::string_view SegmentKindName(SegmentKind kind);  // "prefix", "span", "dependent"
absl::StatusOr<SegmentKind> ParseSegmentKind(absl::string_view name);

// Content that placeholder tokens stand for, such as an image: `count` tokens from token `first` of
// the segment. `hash` is raw bytes, over the processed item (content, size, processor), full width.
struct Extra {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::string hash;
  friend bool operator==(const Extra&, const Extra&) = default;
};

// A segment without its tokens.
struct SegmentHead {
  SegmentKind kind = SegmentKind::kPrefix;
  std::optional<std::uint64_t> base;  // position of its first token; absent: it goes on counting
  std::vector<Extra> extras;          // any order; overlaps allowed
};

struct PromptSegment {
  SegmentHead head;
  std::vector<Token> tokens;
};

// The kind that a segment really has (rule 2). `has_base`: its base moves it (an idle one does not
// count). `after_cut`: a span or a base came before it.
constexpr SegmentKind EffectiveKind(SegmentKind kind, bool has_base, bool after_cut) {
  if (kind == SegmentKind::kSpan) return kind;
  return has_base || after_cut ? SegmentKind::kDependent : SegmentKind::kPrefix;
}
// True if a segment is just more of the one before it (rule 8). Both kinds are effective.
constexpr bool GoesOn(SegmentKind before, SegmentKind kind, bool has_base) {
  return !has_base && kind != SegmentKind::kSpan && kind == before;
}

// What is known of a segment before its text is tokenised.
struct SegmentOutline {
  SegmentKind kind = SegmentKind::kPrefix;
  std::optional<std::uint64_t> base;
  bool is_empty = false;
};

// For each segment: does it go on with the last segment before it that is not empty? Adjacent text
// for which this is true is to be joined before it is tokenised (rule 4), so that where a client
// cuts its text changes no token. A base (other than 0 on the first segment) counts as a cut here,
// since whether it is idle is not known before the text in front of it is tokenised; an idle one
// makes the tokens join all the same, later. `spans`: the model's capability.
std::vector<bool> FindJoins(absl::Span<const SegmentOutline> segments, bool spans);

}  // namespace cairn
#endif  // CAIRN_LIBS_SPAN_SEGMENTS_H_
