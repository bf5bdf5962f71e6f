#include "libs/device_cuda/memory_pieces.h"

#include <algorithm>
#include <utility>

namespace cairn {

bool Contains(absl::Span<const std::byte> memory, const std::byte* at, std::size_t bytes) {
  return at >= memory.data() && at < memory.data() + memory.size() &&
         bytes <= memory.size() - static_cast<std::size_t>(at - memory.data());
}

MemoryPieces::MemoryPieces(std::vector<absl::Span<const std::byte>> pieces)
    : pieces_(std::move(pieces)) {
  std::erase_if(pieces_, [](const auto& piece) { return piece.empty(); });
  std::sort(pieces_.begin(), pieces_.end(),
            [](const auto& a, const auto& b) { return a.data() < b.data(); });
}

std::optional<std::size_t> MemoryPieces::Find(const std::byte* at, std::size_t bytes) const {
  const auto behind =
      std::upper_bound(pieces_.begin(), pieces_.end(), at,
                       [](const std::byte* address, const auto& p) { return address < p.data(); });
  if (behind == pieces_.begin()) return std::nullopt;
  const auto index = static_cast<std::size_t>(behind - pieces_.begin()) - 1;
  return Contains(pieces_[index], at, bytes) ? std::optional(index) : std::nullopt;
}

}  // namespace cairn
