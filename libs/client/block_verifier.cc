#include "libs/client/block_verifier.h"

#include <utility>

#include "libs/base/check.h"
#include "libs/base/mark.h"

namespace cairn {

BlockVerifier::BlockVerifier(CallContext& context)
    : context_(context), verified_(context.options.verified_slots_max) {}

std::optional<BlockVerifier::Verdict> BlockVerifier::Verify(
    std::shared_ptr<const ArenaMapping> mapping, Place place, const HitBlock& block, Done done) {
  if (mapping->arena_boot() == verified_.arena() &&
      verified_.Contains(place, block.generation, block.checksum)) {
    ++context_.stats.sums_spared;
    return Verdict::kSound;
  }
  const Content content(mapping.get(), place, block.generation, block.checksum);
  if (const auto running = running_.find(content); running != running_.end()) {
    CAIRN_COVERED("client_sum_shared");
    ++context_.stats.sums_shared;
    running->second.waiting.push_back(std::move(done));
    return std::nullopt;
  }
  const absl::Status begun = context_.copier.Sum(
      block.bytes, [this, content](Checksum sum) { OnSummed(content, sum); });
  if (!begun.ok()) {
    CAIRN_COVERED("client_sum_refused");
    return Verdict::kBusy;
  }
  Sum& sum = running_[content];
  sum.mapping = std::move(mapping);
  sum.block = block;
  sum.waiting.push_back(std::move(done));
  sum.pass = Gate::Pass(context_.gate);
  return std::nullopt;
}

void BlockVerifier::OnSummed(const Content& content, Checksum checksum) {
  auto node = running_.extract(content);
  CAIRN_CHECK(!node.empty());
  Sum sum = std::move(node.mapped());
  ++context_.stats.sums_done;
  Verdict verdict = Verdict::kSound;
  // The sum was a read of the slot like any other: only the word says what it was a sum of. A slot
  // that changed is stale even if the sum is right, since the next read would be of other bytes.
  const ReadCheck check;
  if (!StillValid(check, sum.block)) {
    CAIRN_COVERED("client_sum_of_reused_slot");
    verdict = Verdict::kStale;
  } else if (checksum != sum.block.checksum) {
    CAIRN_COVERED("client_sum_wrong");
    verdict = Verdict::kCorrupt;
  } else if (sum.mapping->arena_boot() == verified_.arena()) {
    context_.stats.verified_evicted +=
        verified_.Insert(std::get<Place>(content), sum.block.generation, checksum);
  }
  bool is_first = true;
  for (Done& done : sum.waiting) done(verdict, std::exchange(is_first, false));
}

}  // namespace cairn
