#include "libs/device_cuda/device_blocks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "libs/base/check.h"

namespace cairn {

void DeviceBlocks::Reserve(std::uint32_t blocks) {
  reserved_ = blocks;
  Clear();
}

void DeviceBlocks::UsePool(absl::Span<const std::byte> memory,
                           absl::Span<const std::uint64_t> takes) {
  CAIRN_CHECK(takes.size() <= memory.size() / block_bytes_);
  memory_ = memory;
  takes_ = takes;
  Clear();
}

void DeviceBlocks::Empty(std::uint32_t capacity) {
  capacity_ = capacity;
  entries_.clear();
  ages_.clear();
  free_.resize(capacity_);
  for (std::uint32_t i = 0; i < capacity_; ++i) free_[i] = capacity_ - 1 - i;
}

void DeviceBlocks::UseArena(std::vector<absl::Span<const std::byte>> pieces) {
  for (auto& [block, entry] : entries_) {
    if (entry.word.version != 0) entry.word = Word();
  }
  arena_ = MemoryPieces(std::move(pieces));
}

DeviceBlocks::Word DeviceBlocks::WordOf(const Wanted& wanted) const {
  if (wanted.version != 0) {
    return arena_.Find(wanted.block, 1) ? Word{.version = wanted.version} : Word();
  }
  if (!Contains(memory_, wanted.block, 1)) return Word();
  const std::size_t offset = static_cast<std::size_t>(wanted.block - memory_.data());
  if (offset % block_bytes_ != 0 || offset / block_bytes_ >= takes_.size()) return Word();
  return {.take = takes_[offset / block_bytes_] + 1};
}

std::optional<std::uint32_t> DeviceBlocks::Find(const std::byte* block) const {
  const auto it = entries_.find(block);
  if (it == entries_.end()) return std::nullopt;
  const Word word = WordOf({.block = block});
  if (!word.Lasts() || word != it->second.word) return std::nullopt;
  return it->second.slot;
}

std::vector<DeviceBlocks::Load> DeviceBlocks::Begin(absl::Span<const Wanted> blocks) {
  ++step_;
  if (blocks.size() > capacity_) {
    Empty(static_cast<std::uint32_t>(std::bit_ceil(blocks.size())));
  }
  // First those that are here, so that room for the others is made of none of them.
  for (const Wanted& wanted : blocks) {
    const auto it = entries_.find(wanted.block);
    if (it == entries_.end()) continue;
    it->second.step = step_;
    ages_.splice(ages_.end(), ages_, it->second.age);
  }
  std::vector<Load> loads;
  for (const Wanted& wanted : blocks) {
    const auto [it, is_unknown] = entries_.try_emplace(wanted.block);
    Entry& entry = it->second;
    const Word word = WordOf(wanted);
    if (is_unknown) {
      if (free_.empty()) {
        const std::byte* oldest = ages_.front();
        CAIRN_CHECK(entries_.at(oldest).step != step_) << "more blocks than were counted";
        entry.slot = entries_.at(oldest).slot;
        ages_.pop_front();
        entries_.erase(oldest);
      } else {
        entry.slot = free_.back();
        free_.pop_back();
      }
      entry.step = step_;
      entry.age = ages_.insert(ages_.end(), wanted.block);
    }
    const bool is_here = !is_unknown && word.Lasts() && entry.word == word;
    entry.word = word;
    if (!is_here && !wanted.is_new) loads.push_back({wanted.block, entry.slot});
  }
  std::sort(loads.begin(), loads.end(),
            [](const Load& a, const Load& b) { return a.slot < b.slot; });
  return loads;
}

}  // namespace cairn
