#ifndef CAIRN_LIBS_DEVICE_CUDA_REGISTERED_MEMORY_H_
#define CAIRN_LIBS_DEVICE_CUDA_REGISTERED_MEMORY_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "kernels/sk/rt/runtime.h"
#include "libs/device_cuda/memory_pieces.h"
#include "libs/ports/device.h"

namespace cairn {

// RegisteredMemory is what of the host's memory the device reaches: the engine's pool, which it
// also writes to, and a node's arena, mapped read-only.
//
// The pool is registered at once, a piece of the arena when a block of it is first asked for: that
// takes about 0.1 s a GiB. Not every driver registers mappings that cannot be written. What fails
// is one line in the log, and is not tried again for this pool or arena: then the device does not
// reach it.
// Threads: one. Nothing that is registered may be in use by the device when it is replaced.
class RegisteredMemory {
 public:
  explicit RegisteredMemory(rt::Device& device) : device_(device) {}

  void UsePool(absl::Span<const std::byte> memory);
  void UseArena(std::shared_ptr<const SharedArena> arena);

  bool IsWritable(const std::byte* at, std::size_t bytes) const;
  bool IsReadable(const std::byte* at, std::size_t bytes);
  absl::Span<const std::byte> pool() const { return {pool_.bytes(), pool_.size()}; }

 private:
  rt::Device& device_;
  rt::Buffer pool_;
  std::shared_ptr<const SharedArena> arena_;  // outlives what is registered of it
  MemoryPieces pieces_;
  std::vector<rt::Buffer> registered_;  // of each piece; empty: nobody has asked yet, or it failed
  bool has_failed_ = false;             // a piece of this arena
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_REGISTERED_MEMORY_H_
