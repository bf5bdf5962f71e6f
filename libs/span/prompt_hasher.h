#ifndef CAIRN_LIBS_SPAN_PROMPT_HASHER_H_
#define CAIRN_LIBS_SPAN_PROMPT_HASHER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/base/sha256.h"
#include "libs/span/block_hash.h"
#include "libs/span/prompt_layout.h"
#include "libs/span/segments.h"

namespace cairn {

// PromptHasher lays a prompt out and keeps the key of every block current while tokens arrive in
// any pieces: first the prompt's, then the generated ones.
//
// Invariant: keys()[i] is the key of layout().blocks()[i]; it is final once layout().IsClosed(i).
// Errors:    as PromptLayout; after one, layout() and keys() still hold what came before it.
// Threads:   one at a time. Cost: about 0.4 us a block, and once a call for an open last block.
class PromptHasher {
 public:
  PromptHasher(const Root& root, const PromptOptions& options);

  absl::Status BeginSegment(SegmentHead head);
  absl::Status Append(absl::Span<const Token> tokens);
  absl::Status EndPrompt();

  const PromptLayout& layout() const { return layout_; }
  absl::Span<const Key> keys() const { return keys_; }
  // The prompt digest after each block. Computed when first asked for, or when a dependent segment
  // needs them. Valid until the next call that changes the prompt.
  absl::Span<const Digest256> Digests();
  // The key of the recurrent state after each block, at depth blocks()[i].depth().
  std::vector<Key> StateKeys();
  const Root& root() const { return root_; }

 private:
  void HashNew();
  void CatchUpDigests(std::size_t blocks);

  Root root_;
  PromptLayout layout_;
  BlockHash hash_;
  BlockBodies key_bodies_;  // two walks over the same blocks: digests may lag behind keys
  BlockBodies digest_bodies_;
  std::vector<Key> keys_;
  std::size_t keys_final_ = 0;
  std::vector<Digest256> digests_;
  std::size_t digests_final_ = 0;
};

// A whole prompt at once, ended; generated tokens may be appended.
absl::StatusOr<PromptHasher> HashPrompt(const Root& root, const PromptOptions& options,
                                        absl::Span<const PromptSegment> segments);

}  // namespace cairn
#endif  // CAIRN_LIBS_SPAN_PROMPT_HASHER_H_
