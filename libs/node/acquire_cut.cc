#include "libs/node/acquire_cut.h"

#include <algorithm>

#include "libs/base/check.h"
#include "libs/base/mark.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

Cut PlainCut(const CutRequest& request, absl::Span<const wire::Descriptor> hits) {
  Cut cut;
  const std::size_t count = std::min<std::uint64_t>(hits.size(), request.budget);
  cut.kept.resize(count);
  for (std::size_t i = 0; i < count; ++i) cut.kept[i] = static_cast<std::uint32_t>(i);
  cut.capped = static_cast<std::uint32_t>(hits.size() - count);
  return cut;
}

// How many of the prompt's blocks are hits without a hole from the first one on. KV keys come
// before state keys, in prompt order, so block i is key i.
std::uint64_t UnbrokenBlocks(absl::Span<const EntryKind> kinds,
                             absl::Span<const wire::Descriptor> hits) {
  std::uint64_t count = 0;
  while (count < hits.size() && hits[count].index == count && kinds[count] == EntryKind::kKvBlock) {
    ++count;
  }
  return count;
}

Cut HybridCut(const CutRequest& request, absl::Span<const EntryKind> kinds,
              absl::Span<const wire::Descriptor> hits) {
  const std::uint64_t unbroken = UnbrokenBlocks(kinds, hits);
  Cut cut;
  std::uint32_t state = 0;
  bool was_capped = false;
  for (std::uint32_t i = 0; i < hits.size(); ++i) {
    const wire::Descriptor& hit = hits[i];
    if (kinds[hit.index] != EntryKind::kState) continue;
    const std::uint64_t blocks = CeilDiv(hit.depth, request.block_tokens);
    if (hit.depth > request.resume_depth_max || blocks > unbroken) continue;
    if (hit.depth <= cut.resume_depth || hits[blocks - 1].depth < hit.depth) continue;
    if (blocks + 1 > request.budget) {
      CAIRN_COVERED("node_resume_depth_capped");
      was_capped = true;
      continue;
    }
    cut.resume_depth = hit.depth;
    state = i;
  }
  if (cut.resume_depth > 0) {
    const std::uint64_t blocks = CeilDiv(cut.resume_depth, request.block_tokens);
    for (std::uint32_t i = 0; i < blocks; ++i) cut.kept.push_back(i);
    cut.kept.push_back(state);
  }
  if (was_capped) cut.capped = static_cast<std::uint32_t>(hits.size() - cut.kept.size());
  return cut;
}

}  // namespace

Cut ChooseCut(const CutRequest& request, absl::Span<const EntryKind> kinds,
              absl::Span<const wire::Descriptor> hits) {
  CAIRN_CHECK(request.block_tokens > 0);
  return request.is_hybrid ? HybridCut(request, kinds, hits) : PlainCut(request, hits);
}

}  // namespace cairn
