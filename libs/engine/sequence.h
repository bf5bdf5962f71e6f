#ifndef CAIRN_LIBS_ENGINE_SEQUENCE_H_
#define CAIRN_LIBS_ENGINE_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/block/generation.h"
#include "libs/engine/kv_pool.h"
#include "libs/ports/device.h"
#include "libs/span/prompt_hasher.h"

namespace cairn {

// A stored block that is read in place, in a node's arena. What was read of it was right if its
// slot's word is still `generation` afterwards (libs/block/generation.h).
struct ArenaBlock {
  const std::byte* bytes = nullptr;
  SlotWordsView words;
  SlotId slot;
  Generation generation;
};

// Some rows of a sequence that one step computes.
struct SequenceWork {
  std::uint32_t segment = 0;
  std::uint32_t first_row = 0;  // index in the segment
  std::uint32_t rows = 0;
};

// Sequence is the block table of one request: which tokens it has, where the KV of each block is,
// and which rows are still to be computed.
//
// A block's KV is in a *store*; blocks with one key share one (the same span twice in a prompt).
//   missing --TakeHit--> arena (read in place) --DropArena, LoseArena--> missing
//      |                    '--CopyOffArena--> pool, complete
//      '--Plan--> pool: planned rows --Commit--> computed rows          (--Discard--> as before)
// Invariants:
//   1. Rows count as computed only after Commit, which the engine calls after the seqlock check of
//   all
//      that the step read.
//   2. Stores in the arena are never written; a block that must be written is copied off first.
//   3. A store lost to the seqlock check is never read in place again (LoseArena).
//   4. Pool blocks come from the reservation made for all of it, so planning cannot fail.
// Threads: the engine's.
class Sequence {
 public:
  struct Options {
    std::uint32_t generated_max = 0;  // tokens that may be fed back, at the most
    bool offers_generated = true;     // blocks with such tokens, too (ModelShape)
  };
  // `prompt` is ended.
  Sequence(PromptHasher prompt, const Options& options);

  const PromptLayout& layout() const { return prompt_.layout(); }
  absl::Span<const Key> keys() const { return prompt_.keys(); }

  // Pool blocks that cover everything it may ever need.
  std::uint32_t BlocksNeeded() const;
  void Admit(PoolReservation reservation) { reservation_ = std::move(reservation); }

  // The stores that could be hits: one logical block for each, ascending.
  std::vector<std::uint32_t> BlocksToAcquire() const;
  // `block` (from BlocksToAcquire) can be read in place.
  void TakeHit(std::uint32_t block, const ArenaBlock& arena);
  // Call after the hits: makes sure that the prompt's last token runs, for its logits. Returns
  // false if a copy that this took was torn (the block is then missing).
  bool PrepareLastToken();

  // Feeds a sampled token back: it becomes one more row to compute.
  void Append(Token token);

  // Plans the next rows to compute, at most `rows_max`: consecutive tokens of one segment, all of
  // the prompt or all fed back. False if nothing is left to plan.
  bool Plan(std::uint32_t rows_max, SequenceWork* work);
  // The chunk for planned work. Its spans point into this object, until it is destroyed or the next
  // Append.
  StepChunk ChunkOf(const SequenceWork& work, LogitRows output) const;
  bool EverythingPlanned() const;
  bool EverythingComputed() const;

  // The step was good: planned rows are computed now.
  void Commit();
  // The step is thrown away: planned rows are to be planned again.
  void Discard();

  // Does it read any block in place?
  bool ReadsArena() const { return !arena_stores_.empty(); }
  // The reader's half of the seqlock: call after a step's last read. True if no word has changed;
  // else the changed stores are missing from now on, for good (invariant 3).
  bool CheckArena();
  // Copies every block read in place to the pool; then as CheckArena over what was copied.
  bool CopyOffArena();
  // Forgets all places (the pins are void): they may be acquired again.
  void DropArena();

  // Blocks whose KV is complete and final and that were neither hits nor listed before.
  std::vector<std::uint32_t> TakeBlocksToOffer();
  PoolBlock PoolBlockOf(std::uint32_t block) const;

  std::uint64_t rows_computed() const { return rows_computed_; }
  // Of one block: was it a hit when it was acquired?
  bool WasHit(std::uint32_t block) const { return stores_[store_of_[block]].was_hit; }

 private:
  enum class Source : std::uint8_t { kMissing, kArena, kPool };
  struct Store {
    Source source = Source::kMissing;
    bool was_hit = false;
    bool is_banned = false;                        // invariant 3
    std::uint32_t planned = 0;                     // rows planned or computed
    std::uint32_t computed = 0;                    // rows whose KV is there
    std::uint32_t offered = 0;                     // tokens it had when it was offered or found
    absl::InlinedVector<std::uint32_t, 1> blocks;  // the logical blocks that it serves, ascending
    ArenaBlock arena;
    PoolBlock pool;
  };

  void AddNewBlocks();
  void ShowStore(std::uint32_t store);
  void ToPool(std::uint32_t store);
  void Lose(std::uint32_t store);
  bool RemoveChanged(std::vector<std::uint32_t> stores);
  std::uint32_t TokensOf(std::uint32_t store) const {
    return layout().blocks()[stores_[store].blocks[0]].token_count;
  }

  PromptHasher prompt_;
  const Options options_;
  const std::uint32_t prompt_tokens_;
  PoolReservation reservation_;
  std::vector<std::uint32_t> store_of_;  // by block
  std::vector<Store> stores_;
  std::vector<std::uint32_t> arena_stores_;
  // By block, what ChunkOf hands out spans of; never reallocated (room for all is made at the
  // start).
  std::vector<const std::byte*> reads_;
  std::vector<std::uint64_t> versions_;
  std::vector<std::byte*> writes_;
  std::vector<AttendedSegment> attended_;  // all segments but the last, which nothing comes after
  std::uint32_t plan_from_ = 0;            // no block before it has anything to plan
  std::uint64_t rows_planned_ = 0;
  std::uint64_t rows_computed_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_ENGINE_SEQUENCE_H_
