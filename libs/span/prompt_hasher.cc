#include "libs/span/prompt_hasher.h"

#include <algorithm>
#include <utility>

#include "libs/base/status_macros.h"

namespace cairn {

PromptHasher::PromptHasher(const Root& root, const PromptOptions& options)
    : root_(root), layout_(options) {}

absl::Status PromptHasher::BeginSegment(SegmentHead head) {
  return layout_.BeginSegment(std::move(head));
}

absl::Status PromptHasher::Append(absl::Span<const Token> tokens) {
  CAIRN_RETURN_IF_ERROR(layout_.Append(tokens));
  HashNew();
  return absl::OkStatus();
}

absl::Status PromptHasher::EndPrompt() { return layout_.EndPrompt(); }

void PromptHasher::HashNew() {
  const std::vector<PromptBlock>& blocks = layout_.blocks();
  keys_.resize(blocks.size());
  for (std::size_t i = keys_final_; i < blocks.size(); ++i) {
    const PromptBlock& block = blocks[i];
    if (block.start == BlockStart::kDependent) {
      CatchUpDigests(i);
      const Digest256& digest = i == 0 ? root_ : digests_[i - 1];
      keys_[i] = hash_.DependentKey(digest, block.position, key_bodies_.Body(layout_, i));
    } else {
      const Digest256& parent = block.parent.has_value() ? keys_[*block.parent] : root_;
      keys_[i] = hash_.ChainedKey(parent, key_bodies_.Body(layout_, i));
    }
    if (layout_.IsClosed(i)) keys_final_ = i + 1;
  }
}

void PromptHasher::CatchUpDigests(std::size_t blocks) {
  digests_.resize(std::max(digests_.size(), blocks));
  for (std::size_t i = digests_final_; i < blocks; ++i) {
    const PromptBlock& block = layout_.blocks()[i];
    const Digest256& before = i == 0 ? root_ : digests_[i - 1];
    digests_[i] =
        hash_.PromptDigest(before, block.start, block.position, digest_bodies_.Body(layout_, i));
    if (layout_.IsClosed(i)) digests_final_ = i + 1;
  }
}

absl::Span<const Digest256> PromptHasher::Digests() {
  CatchUpDigests(layout_.blocks().size());
  return digests_;
}

std::vector<Key> PromptHasher::StateKeys() {
  std::vector<Key> keys;
  for (const Digest256& digest : Digests()) keys.push_back(StateKeyOf(digest));
  return keys;
}

absl::StatusOr<PromptHasher> HashPrompt(const Root& root, const PromptOptions& options,
                                        absl::Span<const PromptSegment> segments) {
  PromptHasher prompt(root, options);
  for (const PromptSegment& segment : segments) {
    CAIRN_RETURN_IF_ERROR(prompt.BeginSegment(segment.head));
    CAIRN_RETURN_IF_ERROR(prompt.Append(segment.tokens));
  }
  CAIRN_RETURN_IF_ERROR(prompt.EndPrompt());
  return prompt;
}

}  // namespace cairn
