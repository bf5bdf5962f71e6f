#include "libs/span/prompt_layout.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

BlockStart StartOf(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::kPrefix:
      return BlockStart::kGoesOn;
    case SegmentKind::kSpan:
      return BlockStart::kSpan;
    case SegmentKind::kDependent:
      return BlockStart::kDependent;
  }
  return BlockStart::kGoesOn;
}

}  // namespace

PromptLayout::PromptLayout(const PromptOptions& options) : options_(options) {
  CAIRN_CHECK(options.block_tokens >= 1);
}

absl::Status PromptLayout::Fail(std::size_t segment, absl::string_view fault) {
  status_ = absl::InvalidArgumentError(absl::StrCat("segment ", segment, ": ", fault));
  return status_;
}

absl::Status PromptLayout::BeginSegment(SegmentHead head) {
  CAIRN_RETURN_IF_ERROR(status_);
  CAIRN_CHECK(!has_ended_) << "a segment after the end of the prompt";
  CAIRN_RETURN_IF_ERROR(EndGiven());
  given_.reset();
  Given given{.index = given_segments_++};
  if (given.index >= limits::kSegmentsMax) {
    return Fail(given.index, absl::StrCat("more than ", limits::kSegmentsMax, " segments"));
  }
  if (extras_.size() + head.extras.size() > limits::kExtrasMax) {
    return Fail(given.index, absl::StrCat("more than ", limits::kExtrasMax, " extras"));
  }
  for (std::size_t i = 0; i < head.extras.size(); ++i) {
    const Extra& extra = head.extras[i];
    if (extra.count == 0) return Fail(given.index, absl::StrCat("extra ", i, " has count 0"));
    if (extra.hash.size() > limits::kExtraHashBytesMax) {
      return Fail(given.index, absl::StrCat("extra ", i, " has a hash of ", extra.hash.size(),
                                            " bytes, more than ", limits::kExtraHashBytesMax));
    }
    const std::uint64_t end = std::uint64_t{extra.first} + extra.count;
    if (end > limits::kPromptTokensMax) return FailOutside(given.index, i);
    if (end > given.extras_end) {
      given.extras_end = end;
      given.furthest_extra = i;
    }
  }
  given.head = std::move(head);
  given_ = std::move(given);
  return absl::OkStatus();
}

absl::Status PromptLayout::FailOutside(std::size_t segment, std::size_t extra) {
  return Fail(segment, absl::StrCat("extra ", extra, " reaches outside its segment's tokens"));
}

absl::Status PromptLayout::EndGiven() {
  if (!given_.has_value()) return absl::OkStatus();
  if (given_->extras_end > given_->token_count) {
    return FailOutside(given_->index, given_->furthest_extra);
  }
  return absl::OkStatus();
}

std::uint64_t PromptLayout::NextPosition() const {
  if (segments_.empty()) return 0;
  return segments_.back().position + segments_.back().token_count;
}

absl::Status PromptLayout::Append(absl::Span<const Token> tokens) {
  CAIRN_RETURN_IF_ERROR(status_);
  if (tokens.empty()) return absl::OkStatus();
  if (!given_.has_value()) given_ = Given{.index = given_segments_++};
  Given& given = *given_;
  if (has_ended_ && !segments_.empty() && segments_.back().sees_only_itself()) {
    return Fail(given.index, "nothing can follow a prompt that ends in a span");
  }
  if (tokens.size() > limits::kPromptTokensMax - tokens_.size()) {
    return Fail(given.index, absl::StrCat("more than ", limits::kPromptTokensMax, " tokens"));
  }
  std::uint64_t position = NextPosition();
  if (given.token_count == 0 && given.head.base.has_value()) position = *given.head.base;
  if (position > options_.positions_max || tokens.size() > options_.positions_max - position) {
    return Fail(given.index, absl::StrCat("position ", position, " and ", tokens.size(),
                                          " tokens go beyond the model's ", options_.positions_max,
                                          " positions"));
  }
  if (given.token_count == 0) CAIRN_RETURN_IF_ERROR(Place(given, position));
  given.token_count += static_cast<std::uint32_t>(tokens.size());
  last_filled_ = given.index;
  AddTokens(tokens);
  return absl::OkStatus();
}

absl::Status PromptLayout::Place(Given& given, std::uint64_t position) {
  const bool has_base = position != NextPosition();
  if (has_base && !options_.spans) {
    return Fail(given.index, absl::StrCat("this model allows no base, and base ", position,
                                          " differs from position ", NextPosition()));
  }
  const SegmentKind kind =
      options_.spans ? EffectiveKind(given.head.kind, has_base, after_cut_) : SegmentKind::kPrefix;
  const bool goes_on = !segments_.empty() && GoesOn(segments_.back().kind, kind, has_base);
  const std::uint32_t offset = goes_on ? segments_.back().token_count : 0;
  CAIRN_RETURN_IF_ERROR(CountOverlaps(given, offset));
  if (!goes_on) {
    segments_.push_back({.kind = kind,
                         .first_token = static_cast<std::uint32_t>(tokens_.size()),
                         .position = position,
                         .first_block = static_cast<std::uint32_t>(blocks_.size()),
                         .first_extra = static_cast<std::uint32_t>(extras_.size())});
  }
  after_cut_ = after_cut_ || has_base || kind == SegmentKind::kSpan;
  ignored_spans_ = ignored_spans_ || (!options_.spans && given.head.kind == SegmentKind::kSpan);
  // Ascending, ties as given. Extras of an earlier part begin before `offset`, so order holds.
  std::stable_sort(given.head.extras.begin(), given.head.extras.end(),
                   [](const Extra& a, const Extra& b) { return a.first < b.first; });
  for (Extra& extra : given.head.extras) {
    extra.first += offset;
    extras_.push_back(std::move(extra));
  }
  segments_.back().extra_count += static_cast<std::uint32_t>(given.head.extras.size());
  given.head.extras.clear();
  return absl::OkStatus();
}

// Each overlap of an extra and a block is hashed, so their number is the work that extras can ask
// for.
absl::Status PromptLayout::CountOverlaps(const Given& given, std::uint32_t offset) {
  std::size_t overlaps = extra_overlaps_;
  for (const Extra& extra : given.head.extras) {
    const std::uint64_t first = std::uint64_t{extra.first} + offset;
    overlaps +=
        (first + extra.count - 1) / options_.block_tokens - first / options_.block_tokens + 1;
  }
  if (overlaps > limits::kExtraOverlapsMax) {
    return Fail(given.index, absl::StrCat("extras overlap blocks more than ",
                                          limits::kExtraOverlapsMax, " times"));
  }
  extra_overlaps_ = overlaps;
  return absl::OkStatus();
}

void PromptLayout::AddTokens(absl::Span<const Token> tokens) {
  NormalSegment& segment = segments_.back();
  while (!tokens.empty()) {
    const bool has_open = segment.block_count > 0 && IsRagged(blocks_.size() - 1);
    if (!has_open) AddBlock(segment);
    PromptBlock& block = blocks_.back();
    const std::size_t take =
        std::min<std::size_t>(tokens.size(), options_.block_tokens - block.token_count);
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.begin() + take);
    block.token_count += static_cast<std::uint32_t>(take);
    segment.token_count += static_cast<std::uint32_t>(take);
    block.chain_depth = segment.token_count;
    tokens.remove_prefix(take);
  }
}

void PromptLayout::AddBlock(NormalSegment& segment) {
  PromptBlock block{.segment = static_cast<std::uint32_t>(segments_.size() - 1),
                    .is_context_free = segment.is_context_free(),
                    .first_token = static_cast<std::uint32_t>(tokens_.size()),
                    .position = segment.position + segment.token_count};
  if (segment.block_count == 0) {
    block.start = StartOf(segment.kind);
  } else {
    block.parent = static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  blocks_.push_back(block);
  ++segment.block_count;
}

absl::Status PromptLayout::EndPrompt() {
  CAIRN_RETURN_IF_ERROR(status_);
  if (has_ended_) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(EndGiven());
  if (!segments_.empty() && segments_.back().sees_only_itself() && !options_.prefill_only) {
    return Fail(last_filled_, "a prompt may end in a span only if nothing is to be generated");
  }
  has_ended_ = true;
  given_ = Given{.index = last_filled_};  // an empty last segment vanishes; generated tokens go on
  return absl::OkStatus();
}

bool PromptLayout::MayOffer(std::size_t block) const {
  if (!IsRagged(block)) return true;
  const std::size_t segment = blocks_[block].segment;
  if (segment + 1 < segments_.size()) return true;
  return has_ended_ && segments_[segment].sees_only_itself();
}

}  // namespace cairn
