#ifndef CAIRN_LIBS_SPAN_BLOCK_HASH_H_
#define CAIRN_LIBS_SPAN_BLOCK_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "libs/base/ids.h"
#include "libs/base/sha256.h"
#include "libs/span/prompt_layout.h"

// The exact bytes behind keys, prompt digests and state keys. Nothing here decides; see
// prompt_layout.h for the rules and libs/span/README.md for the formulas.

namespace cairn {

// BlockBodies writes the hashed body (tokens and extras) of a layout's blocks, in ascending order.
class BlockBodies {
 public:
  // The body of block `index`: that of the last call, or one that follows it. Valid until the next
  // call. The layout may have grown in between.
  absl::string_view Body(const PromptLayout& layout, std::size_t index);

 private:
  std::string body_;
  std::size_t next_extra_ = 0;     // index in layout.extras()
  std::vector<std::size_t> live_;  // extras that may overlap the block or a later one, ascending
};

// BlockHash makes the three kinds of value. One object is reused, since creating one allocates.
class BlockHash {
 public:
  // A block that goes on (`parent`: the key before it) or begins a prefix or a span (`parent`:
  // root).
  Key ChainedKey(const Digest256& parent, absl::string_view body);
  // The first block of a dependent segment: `digest` stands for the whole prompt before it.
  Key DependentKey(const Digest256& digest, std::uint64_t position, absl::string_view body);
  Digest256 PromptDigest(const Digest256& before, BlockStart start, std::uint64_t position,
                         absl::string_view body);

 private:
  Sha256 sha_;
};

// The key of the recurrent state at the end of the block whose prompt digest this is.
Key StateKeyOf(const Digest256& digest);

}  // namespace cairn
#endif  // CAIRN_LIBS_SPAN_BLOCK_HASH_H_
