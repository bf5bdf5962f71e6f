#ifndef CAIRN_LIBS_BLOCK_GENERATION_H_
#define CAIRN_LIBS_BLOCK_GENERATION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "libs/base/check.h"
#include "libs/base/ids.h"

// The seqlock between a node, which rewrites slots, and readers in other processes, who map the
// arena read-only and may have been stopped at any instruction, for any time. Each segment starts
// with a table of words, one per slot: the generation of what the slot holds.
//
// Promise: a reader that was told (place, generation), has read the slot's bytes, and then finds
//          the word unchanged by a ReadCheck made after its last read, has read no byte of any
//          later content of the slot.
//
// Why it holds. The node does, in this order:
//     N1  store the slot's new word                     SlotWords::Advance
//     N2  atomic_thread_fence(seq_cst)                  SlotWords::Advance
//     N3  write the first byte of the new content       the copier or the transport
// and the reader:
//     R1  read bytes
//     R2  atomic_thread_fence(acquire)                  ReadCheck's constructor
//     R3  load the word                                 ReadCheck::Unchanged
// Suppose R1 returned a byte of N3 or later. Then the fences N2 and R2 synchronise (a fence before
// the write, a fence after the read that saw it), so N1 happens before R3, and R3 sees N1's word or
// a later one. Words never go down and never repeat, so it differs from what the reader was told.
// N2 is seq_cst and not release because N3 may be non-temporal stores, which only a full fence
// orders after N1 on x86.
// N3 usually runs on another thread: the task is handed over with release and acquire, which puts
// N1 before it; that thread repeats the fence for its own stores (BeforeFirstByte). A reader told
// of generation g got it in a message sent after the content of g was complete, so it cannot see
// too little either. Bytes read by R1 may be torn; nothing may be derived from them that outlives a
// failed check.
//
// ThreadSanitizer does not model fences (GCC says so, an error here, hence the pragma): tests under
// it read and write the bytes as relaxed atomics, which it takes as they are.
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif

namespace cairn {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free,
              "words are shared between processes");
static_assert(sizeof(std::atomic<std::uint64_t>) == 8);

// The generation of a slot's first content. 0 is the word of a slot that was never used, so no
// descriptor carries it.
inline constexpr Generation kFirstGeneration{1};

// SlotWords is the node's side of one segment's table. Does not own the memory.
class SlotWords {
 public:
  SlotWords() = default;
  explicit SlotWords(absl::Span<std::atomic<std::uint64_t>> words) : words_(words) {}
  // The table at the start of a segment's zeroed memory (8-byte aligned). As many words as could
  // ever be needed; a segment uses those that its layout says.
  static SlotWords Over(absl::Span<std::byte> segment) {
    return SlotWords(absl::MakeSpan(reinterpret_cast<std::atomic<std::uint64_t>*>(segment.data()),
                                    segment.size() / sizeof(std::uint64_t)));
  }
  std::size_t size() const { return words_.size(); }

  // The first `slots` words become `first`, before any reader is told of a slot that they stand
  // for. `first` is above every word that the table has had.
  void Start(std::uint32_t slots, Generation first) {
    CAIRN_CHECK(slots <= words_.size()) << slots;
    for (std::atomic<std::uint64_t>& word : words_.first(slots)) {
      word.store(first.value(), std::memory_order_relaxed);
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  // N1 and N2: from here on the slot may be written by whoever is handed it. `next` is above the
  // slot's word.
  void Advance(SlotId slot, Generation next) {
    CAIRN_CHECK(slot.value() < words_.size()) << slot.value();
    words_[slot.value()].store(next.value(), std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

 private:
  absl::Span<std::atomic<std::uint64_t>> words_;
};

// A thread that was handed a slot to write calls this before it writes the first byte.
inline void BeforeFirstByte() { std::atomic_thread_fence(std::memory_order_seq_cst); }

// SlotWordsView is the reader's side: the table of a segment that it maps read-only.
class SlotWordsView {
 public:
  SlotWordsView() = default;
  explicit SlotWordsView(absl::Span<const std::atomic<std::uint64_t>> words) : words_(words) {}
  static SlotWordsView Over(absl::Span<const std::byte> segment) {
    return SlotWordsView(
        absl::MakeConstSpan(reinterpret_cast<const std::atomic<std::uint64_t>*>(segment.data()),
                            segment.size() / sizeof(std::uint64_t)));
  }
  std::size_t size() const { return words_.size(); }

 private:
  friend class ReadCheck;
  absl::Span<const std::atomic<std::uint64_t>> words_;
};

// ReadCheck is R2 and R3. Make one after the last read of a step, then ask it about every slot that
// the step read. One made before the last read proves nothing: make a new one for each step.
class ReadCheck {
 public:
  ReadCheck() { std::atomic_thread_fence(std::memory_order_acquire); }
  ReadCheck(const ReadCheck&) = delete;
  ReadCheck& operator=(const ReadCheck&) = delete;

  // True if all bytes read from the slot were of `told`. A slot beyond the table has changed.
  bool Unchanged(const SlotWordsView& segment, SlotId slot, Generation told) const {
    return slot.value() < segment.words_.size() &&
           segment.words_[slot.value()].load(std::memory_order_relaxed) == told.value();
  }
};

}  // namespace cairn
#endif  // CAIRN_LIBS_BLOCK_GENERATION_H_
