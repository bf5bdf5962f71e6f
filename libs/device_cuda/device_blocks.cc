#include "libs/device_cuda/device_blocks.h"

#include <algorithm>
#include <bit>

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

bool DeviceBlocks::IsOfPool(const std::byte* block, std::uint64_t* take) const {
  if (block < memory_.data() || block >= memory_.data() + memory_.size()) return false;
  const std::size_t offset = static_cast<std::size_t>(block - memory_.data());
  if (offset % block_bytes_ != 0 || offset / block_bytes_ >= takes_.size()) return false;
  *take = takes_[offset / block_bytes_];
  return true;
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
    std::uint64_t take = 0;
    const bool may_stay = IsOfPool(wanted.block, &take);
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
    const bool is_here = !is_unknown && may_stay && entry.take == take;
    entry.take = take;
    if (!is_here && !wanted.is_new) loads.push_back({wanted.block, entry.slot});
  }
  std::sort(loads.begin(), loads.end(),
            [](const Load& a, const Load& b) { return a.slot < b.slot; });
  return loads;
}

}  // namespace cairn
