#include "libs/tokenizer/merge_table.h"

#include <algorithm>
#include <functional>

#include "libs/base/check.h"

namespace cairn {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

constexpr std::uint64_t PairOf(std::uint32_t left, std::uint32_t right) {
  return static_cast<std::uint64_t>(left) << 32 | right;
}

}  // namespace

bool MergeTable::Add(std::uint32_t left, std::uint32_t right, std::uint32_t rank,
                     std::uint32_t result) {
  return merge_of_.try_emplace(PairOf(left, right), Merge{rank, result}).second;
}

const MergeTable::Merge* MergeTable::Find(std::uint32_t left, std::uint32_t right) const {
  const auto at = merge_of_.find(PairOf(left, right));
  return at == merge_of_.end() ? nullptr : &at->second;
}

void MergeTable::Propose(Scratch& scratch, std::uint32_t place) const {
  const auto& symbol = scratch.symbols[place];
  const Merge* merge = Find(symbol.id, scratch.symbols[symbol.next].id);
  if (merge == nullptr) return;
  scratch.candidates.push_back(static_cast<std::uint64_t>(merge->rank) << 32 | place);
  std::push_heap(scratch.candidates.begin(), scratch.candidates.end(), std::greater<>());
}

void MergeTable::Join(Scratch& scratch, std::uint32_t rank, std::uint32_t place) const {
  auto& symbols = scratch.symbols;
  Scratch::Symbol& left = symbols[place];
  if (left.id == kNone || left.next == kNone) return;  // joined to the left since, or the last now
  Scratch::Symbol& right = symbols[left.next];
  // A candidate may be of a pair that is no more. A rank names one pair, so that an equal rank is
  // as good as new.
  const Merge* merge = Find(left.id, right.id);
  if (merge == nullptr || merge->rank != rank) return;
  left.id = merge->result;
  left.next = right.next;
  right.id = kNone;
  if (left.next != kNone) symbols[left.next].previous = place;
  if (left.previous != kNone) Propose(scratch, left.previous);
  if (left.next != kNone) Propose(scratch, place);
}

void MergeTable::Apply(Scratch& scratch, std::vector<std::uint32_t>& out) const {
  auto& symbols = scratch.symbols;
  auto& candidates = scratch.candidates;
  if (symbols.empty()) return;
  CAIRN_CHECK(symbols.size() < kNone) << symbols.size();
  const std::uint32_t count = static_cast<std::uint32_t>(symbols.size());
  candidates.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    symbols[i].previous = i == 0 ? kNone : i - 1;
    symbols[i].next = i + 1 == count ? kNone : i + 1;
    if (i + 1 == count) break;
    const Merge* merge = Find(symbols[i].id, symbols[i + 1].id);
    if (merge != nullptr) candidates.push_back(static_cast<std::uint64_t>(merge->rank) << 32 | i);
  }
  std::make_heap(candidates.begin(), candidates.end(), std::greater<>());
  while (!candidates.empty()) {
    std::pop_heap(candidates.begin(), candidates.end(), std::greater<>());
    const std::uint64_t best = candidates.back();
    candidates.pop_back();
    Join(scratch, static_cast<std::uint32_t>(best >> 32), static_cast<std::uint32_t>(best));
  }
  for (std::uint32_t i = 0; i != kNone; i = symbols[i].next) out.push_back(symbols[i].id);
}

}  // namespace cairn
