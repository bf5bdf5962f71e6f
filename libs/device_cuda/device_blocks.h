#ifndef CAIRN_LIBS_DEVICE_CUDA_DEVICE_BLOCKS_H_
#define CAIRN_LIBS_DEVICE_CUDA_DEVICE_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace cairn {

// DeviceBlocks knows which blocks of the host are in which slot of the device's pool.
//
// Only blocks of the host's pool (Device::UsePool) stay there between steps, each under the word
// that it had: another word, and the copy is of no use. A block of a node's arena may hold
// something else in every step, and is copied in by every step that attends it.
//
// Invariants:
//   1. The blocks of one step have slots of their own.
//   2. A slot is given away only when its block is not of the step, the longest unused first.
// Threads: one.
class DeviceBlocks {
 public:
  explicit DeviceBlocks(std::uint64_t block_bytes) : block_bytes_(block_bytes) {}
  // capacity() is at least this from now on. Nothing is known of any block any more.
  void Reserve(std::uint32_t blocks);
  // Nothing is known of any block any more.
  void UsePool(absl::Span<const std::byte> memory, absl::Span<const std::uint64_t> takes);

  struct Wanted {
    const std::byte* block = nullptr;
    // The step stores all tokens of it that it attends: nothing is to be copied in.
    bool is_new = false;
  };
  struct Load {
    const std::byte* block = nullptr;
    std::uint32_t slot = 0;
  };
  // Begins a step with these blocks, each of them once; what must be copied in, by rising slots.
  // Where they are more than capacity(), that grows, and all slots are empty.
  std::vector<Load> Begin(absl::Span<const Wanted> blocks);
  // Of a block of the step that began last.
  std::uint32_t SlotOf(const std::byte* block) const { return entries_.at(block).slot; }
  // The device's pool needs so many slots.
  std::uint32_t capacity() const { return capacity_; }
  // A step failed: who knows what the slots hold. There are those reserved until the next step.
  void Clear() { Empty(reserved_); }

 private:
  struct Entry {
    std::uint32_t slot = 0;
    std::uint64_t take = 0;
    std::uint64_t step = 0;  // that used it last
    std::list<const std::byte*>::iterator age;
  };
  // Whether the block may stay under the word that is written to `take`.
  bool IsOfPool(const std::byte* block, std::uint64_t* take) const;
  void Empty(std::uint32_t capacity);

  const std::uint64_t block_bytes_;
  absl::Span<const std::byte> memory_;
  absl::Span<const std::uint64_t> takes_;
  std::uint32_t reserved_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint64_t step_ = 0;
  absl::flat_hash_map<const std::byte*, Entry> entries_;
  std::list<const std::byte*> ages_;  // of all entries, the longest unused first
  std::vector<std::uint32_t> free_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_DEVICE_BLOCKS_H_
