#include "tests/unit/span/slow_prompt.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/sha256.h"

namespace cairn::slow {

Prompt Read(const std::vector<PromptSegment>& segments, std::uint32_t block_tokens) {
  Prompt prompt;
  bool seen_cut = false;
  for (const PromptSegment& segment : segments) {
    if (segment.tokens.empty()) continue;
    std::vector<Fact>& facts = prompt.facts;
    const std::uint64_t usual = facts.empty() ? 0 : facts.back().position + 1;
    const std::uint64_t position = segment.head.base.value_or(usual);
    const bool is_moved = position != usual;
    const bool is_span = segment.head.kind == SegmentKind::kSpan;
    SegmentKind kind = SegmentKind::kPrefix;
    if (is_span) kind = SegmentKind::kSpan;
    if (!is_span && (seen_cut || is_moved)) kind = SegmentKind::kDependent;
    seen_cut = seen_cut || is_span || is_moved;
    const bool is_new = facts.empty() || is_span || is_moved || facts.back().kind != kind;
    const std::size_t first = facts.size();
    for (std::size_t i = 0; i < segment.tokens.size(); ++i) {
      Fact fact{.token = segment.tokens[i], .position = position + i, .kind = kind};
      if (i == 0 && is_new) {
        fact.group = facts.empty() ? 0 : facts.back().group + 1;
        fact.group_start = first;
      } else {
        fact.group = facts.back().group;
        fact.group_start = facts.back().group_start;
      }
      fact.first_visible = is_span ? fact.group_start : 0;
      fact.begins_block = (first + i - fact.group_start) % block_tokens == 0;
      if (fact.begins_block) prompt.block_starts.push_back(facts.size());
      facts.push_back(fact);
    }
    for (const Extra& extra : segment.head.extras) {
      prompt.extras.push_back({first + extra.first, extra.count, extra.hash});
    }
  }
  prompt.block_starts.push_back(prompt.facts.size());
  std::stable_sort(prompt.extras.begin(), prompt.extras.end(),
                   [](const PlacedExtra& a, const PlacedExtra& b) { return a.first < b.first; });
  return prompt;
}

namespace {

std::string Body(const Prompt& prompt, std::size_t block) {
  const std::size_t begin = prompt.block_starts[block];
  const std::size_t end = prompt.block_starts[block + 1];
  ByteWriter out;
  out.Put(static_cast<std::uint32_t>(end - begin));
  for (std::size_t i = begin; i < end; ++i) out.Put(prompt.facts[i].token);
  std::vector<PlacedExtra> here;
  for (const PlacedExtra& extra : prompt.extras) {
    const std::size_t last = extra.first + extra.count - 1;
    if (extra.first < end && last >= begin) here.push_back(extra);
  }
  out.Put(static_cast<std::uint32_t>(here.size()));
  for (const PlacedExtra& extra : here) {
    out.Put(static_cast<std::int32_t>(static_cast<std::int64_t>(extra.first) -
                                      static_cast<std::int64_t>(begin)));
    out.Put(static_cast<std::uint32_t>(extra.count));
    out.PutLengthPrefixed(extra.hash);
  }
  return std::move(out).Take();
}

// 0, 1 or 2, as hashed.
std::uint8_t Start(const Prompt& prompt, std::size_t block) {
  const Fact& fact = prompt.facts[prompt.block_starts[block]];
  if (prompt.block_starts[block] != fact.group_start) return 0;
  if (fact.kind == SegmentKind::kSpan) return 1;
  return fact.kind == SegmentKind::kDependent ? 2 : 0;
}

}  // namespace

std::vector<Digest256> Digests(const Prompt& prompt, const Root& root) {
  std::vector<Digest256> digests;
  for (std::size_t i = 0; i + 1 < prompt.block_starts.size(); ++i) {
    ByteWriter out;
    out.PutBytes(absl::string_view("cairn.prompt.v1\0", 16));
    out.PutBytes(i == 0 ? root.view() : digests.back().view());
    out.Put(Start(prompt, i));
    out.Put(prompt.facts[prompt.block_starts[i]].position);
    out.PutBytes(Body(prompt, i));
    digests.push_back(Sha256Of(std::move(out).Take()));
  }
  return digests;
}

std::vector<Key> Keys(const Prompt& prompt, const Root& root) {
  const std::vector<Digest256> digests = Digests(prompt, root);
  std::vector<Key> keys;
  for (std::size_t i = 0; i + 1 < prompt.block_starts.size(); ++i) {
    ByteWriter out;
    out.PutBytes(absl::string_view("cairn.block.v1\0", 15));
    const std::uint8_t start = Start(prompt, i);
    if (start == 2) {
      out.Put(std::uint8_t{2});
      out.PutBytes(i == 0 ? root.view() : digests[i - 1].view());
      out.Put(prompt.facts[prompt.block_starts[i]].position);
    } else {
      out.Put(std::uint8_t{0});
      out.PutBytes(start == 1 || i == 0 ? root.view() : keys[i - 1].view());
    }
    out.PutBytes(Body(prompt, i));
    keys.push_back(Sha256Of(std::move(out).Take()));
  }
  return keys;
}

std::string Meaning(const Prompt& prompt, std::size_t block) {
  const std::size_t begin = prompt.block_starts[block];
  const std::size_t end = prompt.block_starts[block + 1];
  const Fact& head = prompt.facts[begin];
  const std::size_t from = head.first_visible;
  std::string out;
  for (std::size_t i = from; i < end; ++i) {
    const Fact& fact = prompt.facts[i];
    absl::StrAppend(&out, fact.begins_block ? "|" : " ", fact.token, "@",
                    static_cast<std::int64_t>(fact.position - head.position), "<",
                    fact.first_visible - from);
  }
  for (const PlacedExtra& extra : prompt.extras) {
    if (extra.first >= end || extra.first + extra.count <= from) continue;
    absl::StrAppend(&out, " x", extra.first - from, "+", extra.count, "=", extra.hash);
  }
  return out;
}

std::vector<PromptSegment> RandomSegments(Rng& rng) {
  std::vector<PromptSegment> segments(rng.Below(5));
  for (PromptSegment& segment : segments) {
    segment.head.kind = static_cast<SegmentKind>(rng.Below(3));
    if (rng.Chance(1, 5)) segment.head.base = rng.Below(12);
    segment.tokens.resize(rng.Below(6));
    for (Token& token : segment.tokens) token = static_cast<Token>(rng.Below(2));
    const std::uint32_t count = static_cast<std::uint32_t>(segment.tokens.size());
    while (count > 0 && rng.Chance(1, 5)) {
      Extra extra{.first = static_cast<std::uint32_t>(rng.Below(count))};
      extra.count = static_cast<std::uint32_t>(rng.Between(1, count - extra.first));
      extra.hash = rng.Chance(1, 2) ? "a" : "bb";
      segment.head.extras.push_back(std::move(extra));
    }
  }
  return segments;
}

}  // namespace cairn::slow
