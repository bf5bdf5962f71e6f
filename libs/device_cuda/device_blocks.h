#ifndef CAIRN_LIBS_DEVICE_CUDA_DEVICE_BLOCKS_H_
#define CAIRN_LIBS_DEVICE_CUDA_DEVICE_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "libs/device_cuda/memory_pieces.h"

namespace cairn {

// DeviceBlocks knows which blocks of the host are in which slot of the device's pool.
//
// Two kinds of blocks stay there between steps, each under the word that it had: those of the
// host's pool (Device::UsePool) under how often they were taken, those of a node's arena
// (Device::UseArena) under their version. Another word, and the copy is of no use. Blocks elsewhere
// may hold something else in every step, and are copied in by every step that attends them.
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
  // Nothing is known any more of blocks in these pieces, and in those of the call before.
  void UseArena(std::vector<absl::Span<const std::byte>> pieces);

  struct Wanted {
    const std::byte* block = nullptr;
    std::uint64_t version = 0;  // of a block of the arena
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
  // Of a block that stays, if it is here under its word: then all that was stored of it is.
  std::optional<std::uint32_t> Find(const std::byte* block) const;
  // Of a block of the step that began last.
  std::uint32_t SlotOf(const std::byte* block) const { return entries_.at(block).slot; }
  // The device's pool needs so many slots.
  std::uint32_t capacity() const { return capacity_; }
  // A step failed: who knows what the slots hold. There are those reserved until the next step.
  void Clear() { Empty(reserved_); }

 private:
  // What a copy is good for: as long as the block has this word. 0: for one step.
  struct Word {
    std::uint64_t take = 0;     // plus 1
    std::uint64_t version = 0;  // either this or `take` is 0
    bool Lasts() const { return take != 0 || version != 0; }
    friend bool operator==(const Word&, const Word&) = default;
  };
  struct Entry {
    std::uint32_t slot = 0;
    Word word;
    std::uint64_t step = 0;  // that used it last
    std::list<const std::byte*>::iterator age;
  };
  Word WordOf(const Wanted& wanted) const;
  void Empty(std::uint32_t capacity);

  const std::uint64_t block_bytes_;
  absl::Span<const std::byte> memory_;
  absl::Span<const std::uint64_t> takes_;
  MemoryPieces arena_;
  std::uint32_t reserved_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint64_t step_ = 0;
  absl::flat_hash_map<const std::byte*, Entry> entries_;
  std::list<const std::byte*> ages_;  // of all entries, the longest unused first
  std::vector<std::uint32_t> free_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_DEVICE_BLOCKS_H_
