#include "libs/node/overlap_watch.h"

#include <algorithm>

namespace cairn {

OverlapWatch::OverlapWatch(std::size_t blocks_max, std::uint64_t seed, OverlapSink& sink,
                           FrontStats& stats)
    : book_(blocks_max, seed), sink_(sink), stats_(stats) {}

OverlapWatch::Seen OverlapWatch::See(const NodeSession& session, const wire::Acquire& message) {
  Seen seen;
  if (message.prompt_tokens == 0) return seen;
  // States are not blocks of the prompt. A block that comes twice is asked for once: up to there
  // the keys say what the prompt is.
  std::size_t blocks = 0;
  for (std::uint32_t end = 0; blocks < message.keys.size(); end = message.ends[blocks++]) {
    const bool is_next = message.kinds[blocks] == EntryKind::kKvBlock &&
                         message.ends[blocks] - end <= session.block_tokens;
    if (!is_next) break;
  }
  const absl::Span<const std::uint32_t> ends(message.ends.data(), blocks);
  seen.overlap =
      book_.Observe(session.root, {message.keys.data(), blocks}, ends, message.prompt_tokens);
  const auto agreed = std::upper_bound(ends.begin(), ends.end(), seen.overlap.depth);
  seen.blocks = static_cast<std::uint32_t>(agreed - ends.begin());
  // All that the keys say agrees, but they do not say all.
  if (blocks > 0 && seen.blocks == blocks && ends.back() < message.prompt_tokens) {
    seen.overlap.is_censored = true;
  }
  stats_.overlap_blocks = book_.size().blocks;
  return seen;
}

void OverlapWatch::Tell(const Seen& seen, bool is_hybrid, wire::Acquired& answer) {
  Overlap overlap = seen.overlap;
  if (overlap.family == 0) return;
  answer.family = overlap.family;
  answer.overlap_depth = static_cast<std::uint32_t>(overlap.depth);
  std::uint32_t unbroken = 0;
  while (unbroken < answer.hits.size() && answer.hits[unbroken].index == unbroken) ++unbroken;
  // A prompt's last token always runs: nobody needs its last block.
  const std::uint32_t needed = seen.blocks - (overlap.depth == overlap.request_length ? 1 : 0);
  overlap.was_served = needed > 0 && (is_hybrid ? answer.resume_depth > 0 : unbroken >= needed);
  ++stats_.overlaps;
  sink_.Report(overlap);
}

}  // namespace cairn
