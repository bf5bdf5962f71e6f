#ifndef CAIRN_TESTS_UNIT_SPAN_PROMPTS_H_
#define CAIRN_TESTS_UNIT_SPAN_PROMPTS_H_

#include <optional>
#include <utility>
#include <vector>

#include "libs/base/check.h"
#include "libs/base/ids.h"
#include "libs/span/identity.h"
#include "libs/span/prompt_hasher.h"

// Short ways to write prompts in tests: Keys({Prefix({1, 2}), Span({3}), Dependent({4})}).

namespace cairn {

inline PromptSegment Part(SegmentKind kind, std::vector<Token> tokens,
                          std::optional<std::uint64_t> base, std::vector<Extra> extras) {
  return {.head = {.kind = kind, .base = base, .extras = std::move(extras)},
          .tokens = std::move(tokens)};
}
inline PromptSegment Prefix(std::vector<Token> tokens, std::optional<std::uint64_t> base = {},
                            std::vector<Extra> extras = {}) {
  return Part(SegmentKind::kPrefix, std::move(tokens), base, std::move(extras));
}
inline PromptSegment Span(std::vector<Token> tokens, std::optional<std::uint64_t> base = {},
                          std::vector<Extra> extras = {}) {
  return Part(SegmentKind::kSpan, std::move(tokens), base, std::move(extras));
}
inline PromptSegment Dependent(std::vector<Token> tokens, std::optional<std::uint64_t> base = {},
                               std::vector<Extra> extras = {}) {
  return Part(SegmentKind::kDependent, std::move(tokens), base, std::move(extras));
}

inline Root TestRoot(absl::string_view salt = "salt", std::uint32_t block_tokens = 4) {
  const Digest256 fingerprint = FingerprintOf({.model = "m"}).value();
  return RootOf(fingerprint, "tenant", salt, block_tokens).value();
}

// The prompt with blocks of 4 tokens, prefill-only so that any kind may end it.
inline PromptHasher Hashed(const std::vector<PromptSegment>& segments,
                           std::uint32_t block_tokens = 4) {
  absl::StatusOr<PromptHasher> prompt =
      HashPrompt(TestRoot("salt", block_tokens),
                 {.block_tokens = block_tokens, .prefill_only = true}, segments);
  CAIRN_CHECK(prompt.ok()) << prompt.status();
  return *std::move(prompt);
}

inline std::vector<Key> Keys(const std::vector<PromptSegment>& segments,
                             std::uint32_t block_tokens = 4) {
  const PromptHasher prompt = Hashed(segments, block_tokens);
  return {prompt.keys().begin(), prompt.keys().end()};
}

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_SPAN_PROMPTS_H_
