#ifndef CAIRN_TESTS_UNIT_SPAN_SLOW_PROMPT_H_
#define CAIRN_TESTS_UNIT_SPAN_SLOW_PROMPT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "libs/base/ids.h"
#include "libs/base/rng.h"
#include "libs/span/segments.h"

// A second, slow and obvious implementation of segments and keys, token by token, that shares no
// code with libs/span but the input types and SHA-256. It takes valid prompts of models with spans.

namespace cairn::slow {

// One token and everything that is true of it.
struct Fact {
  Token token = 0;
  std::uint64_t position = 0;
  std::size_t group = 0;          // its normalised segment
  std::size_t group_start = 0;    // index of that segment's first token
  std::size_t first_visible = 0;  // it attends the tokens from here to itself
  SegmentKind kind = SegmentKind::kPrefix;
  bool begins_block = false;
};

// An extra at its place in the whole prompt.
struct PlacedExtra {
  std::size_t first = 0;
  std::size_t count = 0;
  std::string hash;
};

struct Prompt {
  std::vector<Fact> facts;
  std::vector<PlacedExtra> extras;        // by first, ties as given
  std::vector<std::size_t> block_starts;  // and, last, the number of tokens
};

Prompt Read(const std::vector<PromptSegment>& segments, std::uint32_t block_tokens);

// Keys and prompt digests, by the formulas of libs/span/README.md.
std::vector<Key> Keys(const Prompt& prompt, const Root& root);
std::vector<Digest256> Digests(const Prompt& prompt, const Root& root);

// Everything that the KV of block `block` depends on, as text: the tokens that it attends or that
// those attend, their masks, positions relative to the block, block cuts and extras.
std::string Meaning(const Prompt& prompt, std::size_t block);

// A small prompt with few distinct tokens, so that parts repeat; ends in any kind.
std::vector<PromptSegment> RandomSegments(Rng& rng);

}  // namespace cairn::slow
#endif  // CAIRN_TESTS_UNIT_SPAN_SLOW_PROMPT_H_
