#include <gtest/gtest.h>

#include <string>

#include "absl/container/flat_hash_map.h"
#include "tests/unit/span/prompts.h"
#include "tests/unit/span/slow_prompt.h"

namespace cairn {
namespace {

// What stands behind a key: the first prompt that had it.
struct Owner {
  std::string meaning;
  int prompt = 0;
};

// Over many small prompts with few distinct tokens: a key that two prompts share names the same KV,
// and context-free KV that two prompts share has the same key.
TEST(NoFalseHitTest, EqualKeysMeanEqualTokensExtrasMasksPositionsAndCuts) {
  for (std::uint32_t block_tokens : {1u, 2u, 3u}) {
    Rng rng(100 + block_tokens);
    absl::flat_hash_map<Key, Owner> owners;
    absl::flat_hash_map<std::string, Key> context_free;
    int hits = 0;
    int dependent_hits = 0;
    for (int i = 0; i < 20000; ++i) {
      const std::vector<PromptSegment> segments = slow::RandomSegments(rng);
      const PromptHasher prompt = Hashed(segments, block_tokens);
      const slow::Prompt reference = slow::Read(segments, block_tokens);
      for (std::size_t b = 0; b < prompt.keys().size(); ++b) {
        const Key& key = prompt.keys()[b];
        const bool is_context_free = prompt.layout().blocks()[b].is_context_free;
        const std::string meaning = slow::Meaning(reference, b);
        const auto [owner, is_new] = owners.try_emplace(key, Owner{meaning, i});
        ASSERT_EQ(owner->second.meaning, meaning)
            << "prompts " << owner->second.prompt << " and " << i;
        if (!is_new) ++hits;
        if (!is_new && !is_context_free) ++dependent_hits;
        if (!is_context_free) continue;
        ASSERT_EQ(context_free.try_emplace(meaning, key).first->second, key)
            << "a hit missed: " << i;
      }
    }
    EXPECT_GT(hits, 20000) << "the prompts are too different to try the keys";
    EXPECT_GT(dependent_hits, 300);
  }
}

}  // namespace
}  // namespace cairn
