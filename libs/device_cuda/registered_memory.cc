#include "libs/device_cuda/registered_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "libs/base/log.h"

namespace cairn {
namespace {

bool Contains(absl::Span<const std::byte> memory, const std::byte* at, std::size_t bytes) {
  return at >= memory.data() && at < memory.data() + memory.size() &&
         bytes <= memory.size() - static_cast<std::size_t>(at - memory.data());
}

// Empty where it failed, which is then in the log.
rt::Buffer Register(rt::Device& device, absl::Span<const std::byte> memory, bool read_only,
                    const char* event) {
  // What is registered to be written is the engine's own memory: chunks name blocks of it for that.
  rt::Result<rt::Buffer> registered =
      device.RegisterHost(const_cast<std::byte*>(memory.data()), memory.size(), read_only);
  if (registered.ok()) return std::move(*registered);
  LogEvent(LogLevel::kWarning, event)
      .With("bytes", memory.size())
      .With("reason", registered.status().message());
  return rt::Buffer();
}

}  // namespace

void RegisteredMemory::UsePool(absl::Span<const std::byte> memory) {
  pool_ = rt::Buffer();
  if (!memory.empty()) pool_ = Register(device_, memory, false, "kv_pool_not_registered");
}

void RegisteredMemory::UseArena(std::shared_ptr<const SharedArena> arena) {
  pieces_.clear();
  has_failed_ = false;
  arena_ = std::move(arena);
  if (arena_ == nullptr) return;
  for (const absl::Span<const std::byte> memory : arena_->pieces()) pieces_.push_back({memory, {}});
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.memory.data() < b.memory.data(); });
}

bool RegisteredMemory::IsWritable(const std::byte* at, std::size_t bytes) const {
  return Contains(pool(), at, bytes);
}

bool RegisteredMemory::IsReadable(const std::byte* at, std::size_t bytes) {
  if (IsWritable(at, bytes)) return true;
  const auto behind = std::upper_bound(
      pieces_.begin(), pieces_.end(), at,
      [](const std::byte* address, const Piece& piece) { return address < piece.memory.data(); });
  if (behind == pieces_.begin()) return false;
  Piece& piece = *std::prev(behind);
  if (!Contains(piece.memory, at, bytes)) return false;
  if (piece.registered.size() == 0 && !has_failed_) {
    piece.registered = Register(device_, piece.memory, true, "arena_not_registered");
    has_failed_ = piece.registered.size() == 0;
  }
  return piece.registered.size() > 0;
}

}  // namespace cairn
