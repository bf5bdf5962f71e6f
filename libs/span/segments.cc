#include "libs/span/segments.h"

#include "absl/strings/str_cat.h"

namespace cairn {

absl::string_view SegmentKindName(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::kPrefix:
      return "prefix";
    case SegmentKind::kSpan:
      return "span";
    case SegmentKind::kDependent:
      return "dependent";
  }
  return "unknown";
}

absl::StatusOr<SegmentKind> ParseSegmentKind(absl::string_view name) {
  for (SegmentKind kind : {SegmentKind::kPrefix, SegmentKind::kSpan, SegmentKind::kDependent}) {
    if (name == SegmentKindName(kind)) return kind;
  }
  return absl::InvalidArgumentError("the kind of a segment is prefix, span or dependent");
}

std::vector<bool> FindJoins(absl::Span<const SegmentOutline> segments, bool spans) {
  std::vector<bool> joins(segments.size(), false);
  std::optional<SegmentKind> before;
  bool after_cut = false;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const SegmentOutline& segment = segments[i];
    if (segment.is_empty) continue;
    const bool has_base = segment.base.has_value() && (before.has_value() || *segment.base != 0);
    const SegmentKind kind =
        spans ? EffectiveKind(segment.kind, has_base, after_cut) : SegmentKind::kPrefix;
    joins[i] = before.has_value() && GoesOn(*before, kind, has_base);
    after_cut = after_cut || has_base || kind == SegmentKind::kSpan;
    before = kind;
  }
  return joins;
}

}  // namespace cairn
