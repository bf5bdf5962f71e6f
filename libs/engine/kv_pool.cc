#include "libs/engine/kv_pool.h"

#include <cstring>
#include <utility>

#include "libs/base/check.h"

namespace cairn {

PoolBlock::PoolBlock(const PoolBlock& other) : pool_(other.pool_), index_(other.index_) {
  if (pool_ != nullptr) pool_->claims_[index_]++;
}

PoolBlock& PoolBlock::operator=(const PoolBlock& other) {
  PoolBlock copy(other);
  return *this = std::move(copy);
}

PoolBlock::PoolBlock(PoolBlock&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), index_(other.index_) {}

PoolBlock& PoolBlock::operator=(PoolBlock&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(index_, other.index_);
  return *this;
}

PoolBlock::~PoolBlock() { Drop(); }

void PoolBlock::Drop() {
  if (pool_ == nullptr) return;
  KvPool& pool = *std::exchange(pool_, nullptr);
  CAIRN_CHECK(pool.claims_[index_] > 0) << index_;
  if (--pool.claims_[index_] == 0) pool.free_.push_back(index_);
}

absl::Span<std::byte> PoolBlock::bytes() const {
  CAIRN_CHECK(pool_ != nullptr);
  return pool_->memory_.subspan(std::uint64_t{index_} * pool_->block_bytes_, pool_->block_bytes_);
}

PoolReservation::PoolReservation(PoolReservation&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), blocks_(std::exchange(other.blocks_, 0)) {}

PoolReservation& PoolReservation::operator=(PoolReservation&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(blocks_, other.blocks_);
  return *this;
}

PoolReservation::~PoolReservation() {
  if (pool_ != nullptr) pool_->Unreserve(blocks_);
}

PoolBlock PoolReservation::Take() {
  CAIRN_CHECK(blocks_ > 0) << "a request used more blocks than it had reserved";
  --blocks_;
  return pool_->TakeReserved();
}

KvPool::KvPool(absl::Span<std::byte> memory, std::uint64_t block_bytes)
    : memory_(memory),
      block_bytes_(block_bytes),
      claims_(memory.size() / block_bytes, 0),
      takes_(claims_.size(), 0) {
  free_.reserve(claims_.size());
  for (std::size_t i = claims_.size(); i > 0; --i)
    free_.push_back(static_cast<std::uint32_t>(i - 1));
}

KvPool::~KvPool() {
  CAIRN_CHECK(free_.size() == claims_.size())
      << claims_.size() - free_.size() << " blocks still held";
}

bool KvPool::Reserve(std::uint32_t blocks, PoolReservation* out) {
  if (blocks > available()) return false;
  reserved_ += blocks;
  *out = PoolReservation(this, blocks);
  return true;
}

PoolBlock KvPool::TakeReserved() {
  CAIRN_CHECK(reserved_ > 0);
  CAIRN_CHECK(!free_.empty());
  --reserved_;
  const std::uint32_t index = free_.back();
  free_.pop_back();
  claims_[index] = 1;
  ++takes_[index];
  PoolBlock block(this, index);
  std::memset(block.bytes().data(), 0, block_bytes_);
  return block;
}

}  // namespace cairn
