#ifndef CAIRN_LIBS_ENGINE_KV_POOL_H_
#define CAIRN_LIBS_ENGINE_KV_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"

namespace cairn {

class KvPool;

// A shared claim on one block of the pool: a request's block table and an offer to a node may hold
// the same block. The last claim to go frees it. Engine thread only.
class PoolBlock {
 public:
  PoolBlock() = default;
  PoolBlock(const PoolBlock& other);
  PoolBlock& operator=(const PoolBlock& other);
  PoolBlock(PoolBlock&& other) noexcept;
  PoolBlock& operator=(PoolBlock&& other) noexcept;
  ~PoolBlock();

  explicit operator bool() const { return pool_ != nullptr; }
  absl::Span<std::byte> bytes() const;

 private:
  friend class KvPool;
  PoolBlock(KvPool* pool, std::uint32_t index) : pool_(pool), index_(index) {}
  void Drop();
  KvPool* pool_ = nullptr;
  std::uint32_t index_ = 0;
};

// The right to take so many blocks: made before a request is admitted, so that nothing it does
// later can fail for lack of memory. Move-only; what is left returns to the pool.
class PoolReservation {
 public:
  PoolReservation() = default;
  PoolReservation(PoolReservation&& other) noexcept;
  PoolReservation& operator=(PoolReservation&& other) noexcept;
  ~PoolReservation();
  std::uint32_t blocks() const { return blocks_; }
  // A zeroed block. The reservation must not be used up: that would be our bug.
  PoolBlock Take();

 private:
  friend class KvPool;
  PoolReservation(KvPool* pool, std::uint32_t blocks) : pool_(pool), blocks_(blocks) {}
  KvPool* pool_ = nullptr;
  std::uint32_t blocks_ = 0;
};

// KvPool cuts the worker's KV memory into blocks of one size.
//
// Invariants:
//   1. free + reserved + held == blocks().
//   2. A block is handed out zeroed: the empty slots of a ragged block are zero (keys.md, rule 3).
//   3. A block is not handed out again while any claim on it lives, an offer's included.
// Threads: one.  Ownership: the memory outlives the pool, the pool outlives its blocks.
class KvPool {
 public:
  // `memory` is 4 KiB aligned; what does not fill a block is unused.
  KvPool(absl::Span<std::byte> memory, std::uint64_t block_bytes);
  ~KvPool();
  KvPool(const KvPool&) = delete;
  KvPool& operator=(const KvPool&) = delete;

  std::uint32_t blocks() const { return static_cast<std::uint32_t>(claims_.size()); }
  // Neither held nor reserved.
  std::uint32_t available() const { return static_cast<std::uint32_t>(free_.size()) - reserved_; }
  absl::Span<const std::byte> memory() const { return memory_; }
  // By block: how often it was taken. What is in a block from an earlier time is no one's any more.
  absl::Span<const std::uint64_t> takes() const { return takes_; }
  // All of `blocks`, or nothing (an empty reservation with blocks() == 0) if fewer are available.
  bool Reserve(std::uint32_t blocks, PoolReservation* out);

 private:
  friend class PoolBlock;
  friend class PoolReservation;
  PoolBlock TakeReserved();
  void Unreserve(std::uint32_t blocks) { reserved_ -= blocks; }

  absl::Span<std::byte> memory_;
  const std::uint64_t block_bytes_;
  std::vector<std::uint32_t> claims_;  // by block: how many PoolBlocks name it
  std::vector<std::uint64_t> takes_;
  std::vector<std::uint32_t> free_;    // a stack: the block freed last is warm in cache
  std::uint32_t reserved_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_ENGINE_KV_POOL_H_
