#include "libs/device_cuda/registered_memory.h"

#include <optional>
#include <utility>

#include "libs/base/log.h"

namespace cairn {
namespace {

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
  registered_.clear();
  has_failed_ = false;
  arena_ = std::move(arena);
  pieces_ = arena_ == nullptr ? MemoryPieces() : MemoryPieces(arena_->pieces());
  registered_.resize(pieces_.size());
}

bool RegisteredMemory::IsWritable(const std::byte* at, std::size_t bytes) const {
  return Contains(pool(), at, bytes);
}

bool RegisteredMemory::IsReadable(const std::byte* at, std::size_t bytes) {
  if (IsWritable(at, bytes)) return true;
  const std::optional<std::size_t> piece = pieces_.Find(at, bytes);
  if (!piece) return false;
  rt::Buffer& registered = registered_[*piece];
  if (registered.size() == 0 && !has_failed_) {
    registered = Register(device_, pieces_[*piece], true, "arena_not_registered");
    has_failed_ = registered.size() == 0;
  }
  return registered.size() > 0;
}

}  // namespace cairn
