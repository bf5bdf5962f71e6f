#include "libs/engine/sequence.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "libs/base/check.h"
#include "libs/base/mark.h"
#include "libs/base/units.h"

namespace cairn {

Sequence::Sequence(PromptHasher prompt, const Options& options)
    : prompt_(std::move(prompt)),
      options_(options),
      prompt_tokens_(static_cast<std::uint32_t>(prompt_.layout().tokens().size())) {
  // Closed blocks with one key share one store; only equal KV has equal keys (keys.md).
  absl::flat_hash_map<Key, std::uint32_t> store_by_key;
  const auto& blocks = layout().blocks();
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    auto store = static_cast<std::uint32_t>(stores_.size());
    if (layout().IsClosed(i)) store = store_by_key.try_emplace(keys()[i], store).first->second;
    if (store == stores_.size()) stores_.emplace_back();
    stores_[store].blocks.push_back(i);
    store_of_.push_back(store);
  }
  const std::size_t blocks_max =
      blocks.size() + CeilDiv(options.generated_max, layout().options().block_tokens);
  reads_.reserve(blocks_max);
  versions_.reserve(blocks_max);
  writes_.reserve(blocks_max);
  reads_.resize(blocks.size(), nullptr);
  versions_.resize(blocks.size(), 0);
  writes_.resize(blocks.size(), nullptr);
  for (std::size_t i = 0; i + 1 < layout().segments().size(); ++i) {
    const NormalSegment& segment = layout().segments()[i];
    const std::size_t first = segment.first_block, count = segment.block_count;
    attended_.push_back({.position = segment.position,
                         .tokens = segment.token_count,
                         .blocks = absl::MakeConstSpan(reads_).subspan(first, count),
                         .versions = absl::MakeConstSpan(versions_).subspan(first, count)});
  }
}

std::uint32_t Sequence::BlocksNeeded() const {
  const std::uint32_t per_block = layout().options().block_tokens;
  const std::uint32_t last =
      layout().blocks().empty() ? 0 : layout().blocks().back().token_count % per_block;
  // The last block may have room for some generated tokens; the rest needs blocks of its own.
  const std::uint32_t room = last == 0 ? 0 : per_block - last;
  const std::uint32_t generated_max = options_.generated_max;
  const std::uint32_t grown = generated_max > room ? generated_max - room : 0;
  return static_cast<std::uint32_t>(stores_.size() + CeilDiv(grown, per_block));
}

std::vector<std::uint32_t> Sequence::BlocksToAcquire() const {
  std::vector<std::uint32_t> out;
  for (const Store& store : stores_) {
    if (store.source == Source::kMissing && !store.is_banned) out.push_back(store.blocks[0]);
  }
  return out;
}

void Sequence::TakeHit(std::uint32_t block, const ArenaBlock& arena) {
  const std::uint32_t index = store_of_[block];
  Store& store = stores_[index];
  CAIRN_CHECK(store.source == Source::kMissing) << "block " << block;
  store.source = Source::kArena;
  store.arena = arena;
  store.was_hit = true;
  store.planned = store.computed = store.offered = TokensOf(index);
  arena_stores_.push_back(index);
  plan_from_ = 0;
  ShowStore(index);
}

bool Sequence::PrepareLastToken() {
  const std::uint32_t last = store_of_.back();
  if (stores_[last].source == Source::kArena) {
    CAIRN_COVERED("last_block_was_hit");
    ToPool(last);
    if (!RemoveChanged({last})) return false;
    stores_[last].planned = stores_[last].computed = TokensOf(last) - 1;
  }
  return true;
}

void Sequence::Append(Token token) {
  CAIRN_CHECK(prompt_.Append({&token, 1}).ok()) << "the engine checked all limits at admission";
  AddNewBlocks();
  // The token joined the last block or began one: planning goes on there.
  plan_from_ =
      std::min<std::uint32_t>(plan_from_, static_cast<std::uint32_t>(store_of_.size()) - 1);
}

void Sequence::AddNewBlocks() {
  for (std::size_t i = store_of_.size(); i < layout().blocks().size(); ++i) {
    store_of_.push_back(static_cast<std::uint32_t>(stores_.size()));
    stores_.emplace_back();
    stores_.back().blocks.push_back(static_cast<std::uint32_t>(i));
    CAIRN_CHECK(reads_.size() < reads_.capacity()) << "more tokens than were announced";
    reads_.push_back(nullptr);
    versions_.push_back(0);
    writes_.push_back(nullptr);
  }
}

void Sequence::ShowStore(std::uint32_t index) {
  const Store& store = stores_[index];
  const std::byte* read = nullptr;
  std::byte* write = nullptr;
  std::uint64_t version = 0;
  if (store.source == Source::kArena) {
    read = store.arena.bytes;
    version = store.arena.generation.value();
  }
  if (store.source == Source::kPool) read = write = store.pool.bytes().data();
  for (const std::uint32_t block : store.blocks) {
    reads_[block] = read;
    writes_[block] = write;
    versions_[block] = version;
  }
}

// Copies a store that is read in place into a pool block. The copy is a read like any other: the
// caller checks the words after it.
void Sequence::ToPool(std::uint32_t index) {
  Store& store = stores_[index];
  PoolBlock block = reservation_.Take();
  std::memcpy(block.bytes().data(), store.arena.bytes, block.bytes().size());
  store.pool = std::move(block);
  store.source = Source::kPool;
  arena_stores_.erase(std::remove(arena_stores_.begin(), arena_stores_.end(), index),
                      arena_stores_.end());
  ShowStore(index);
}

void Sequence::Lose(std::uint32_t index) {
  CAIRN_COVERED("arena_block_lost");
  Store& store = stores_[index];
  if (store.source ==
      Source::kPool) {  // a torn copy: the block goes back to the reservation's pool
    std::memset(store.pool.bytes().data(), 0, store.pool.bytes().size());
  } else {
    store.source = Source::kMissing;
    arena_stores_.erase(std::remove(arena_stores_.begin(), arena_stores_.end(), index),
                        arena_stores_.end());
  }
  store.is_banned = true;
  store.planned = store.computed = store.offered = 0;
  plan_from_ = 0;
  ShowStore(index);
}

bool Sequence::RemoveChanged(std::vector<std::uint32_t> stores) {
  const ReadCheck check;  // after the last read: the fence is in here
  bool all_good = true;
  for (const std::uint32_t index : stores) {
    const ArenaBlock& arena = stores_[index].arena;
    if (check.Unchanged(arena.words, arena.slot, arena.generation)) continue;
    Lose(index);
    all_good = false;
  }
  return all_good;
}

bool Sequence::CheckArena() { return RemoveChanged(arena_stores_); }

bool Sequence::CopyOffArena() {
  const std::vector<std::uint32_t> stores = arena_stores_;
  for (const std::uint32_t index : stores) ToPool(index);
  return RemoveChanged(stores);
}

void Sequence::DropArena() {
  for (const std::uint32_t index : std::exchange(arena_stores_, {})) {
    Store& store = stores_[index];
    store.source = Source::kMissing;
    store.planned = store.computed = store.offered = 0;
    ShowStore(index);
  }
  plan_from_ = 0;
}

bool Sequence::Plan(std::uint32_t rows_max, SequenceWork* work) {
  const auto& blocks = layout().blocks();
  const auto left = [&](std::uint32_t block) {
    return blocks[block].token_count - stores_[store_of_[block]].planned;
  };
  while (plan_from_ < blocks.size() && left(plan_from_) == 0) ++plan_from_;
  if (plan_from_ == blocks.size() || rows_max == 0) return false;

  const PromptBlock& first = blocks[plan_from_];
  const NormalSegment& segment = layout().segments()[first.segment];
  work->segment = first.segment;
  work->first_row =
      first.first_token - segment.first_token + stores_[store_of_[plan_from_]].planned;
  work->rows = 0;
  const std::uint32_t first_token = segment.first_token + work->first_row;
  if (first_token < prompt_tokens_) rows_max = std::min(rows_max, prompt_tokens_ - first_token);
  // Runs on through blocks that have nothing yet, up to the segment's end.
  for (std::uint32_t i = plan_from_; i < blocks.size() && work->rows < rows_max; ++i) {
    if (blocks[i].segment != first.segment) break;
    Store& store = stores_[store_of_[i]];
    if (left(i) == 0 || (i != plan_from_ && store.planned != 0)) break;
    if (store.source == Source::kMissing) {
      store.pool = reservation_.Take();
      store.source = Source::kPool;
      ShowStore(store_of_[i]);
    }
    const std::uint32_t rows = std::min(left(i), rows_max - work->rows);
    store.planned += rows;
    work->rows += rows;
    if (left(i) > 0) break;
  }
  rows_planned_ += work->rows;
  return true;
}

StepChunk Sequence::ChunkOf(const SequenceWork& work, LogitRows output) const {
  const NormalSegment& segment = layout().segments()[work.segment];
  const std::uint32_t per_block = layout().options().block_tokens;
  const std::uint32_t first_block = segment.first_block + work.first_row / per_block;
  const std::uint32_t end_block = segment.first_block + static_cast<std::uint32_t>(CeilDiv(
                                                            work.first_row + work.rows, per_block));
  StepChunk chunk;
  chunk.tokens = absl::MakeConstSpan(layout().tokens())
                     .subspan(segment.first_token + work.first_row, work.rows);
  chunk.first_row = work.first_row;
  chunk.own.tokens = work.first_row + work.rows;
  const std::size_t own_blocks = end_block - segment.first_block;
  chunk.own.blocks = absl::MakeConstSpan(reads_).subspan(segment.first_block, own_blocks);
  chunk.own.versions = absl::MakeConstSpan(versions_).subspan(segment.first_block, own_blocks);
  chunk.writes = absl::MakeConstSpan(writes_).subspan(first_block, end_block - first_block);
  if (!segment.sees_only_itself()) {  // else positions count from the span's own first token
    chunk.own.position = segment.position;
    chunk.context = absl::MakeConstSpan(attended_).subspan(0, work.segment);
  }
  chunk.position = chunk.own.position + work.first_row;
  chunk.logit_rows = output;
  chunk.is_generated = segment.first_token + work.first_row >= prompt_tokens_;
  return chunk;
}

bool Sequence::EverythingPlanned() const {
  for (std::uint32_t i = plan_from_; i < store_of_.size(); ++i) {
    if (stores_[store_of_[i]].planned != layout().blocks()[i].token_count) return false;
  }
  return true;
}

bool Sequence::EverythingComputed() const {
  for (std::uint32_t i = 0; i < store_of_.size(); ++i) {
    if (stores_[store_of_[i]].computed != layout().blocks()[i].token_count) return false;
  }
  return true;
}

void Sequence::Commit() {
  for (Store& store : stores_) store.computed = store.planned;
  rows_computed_ += std::exchange(rows_planned_, 0);
}

void Sequence::Discard() {
  for (Store& store : stores_) store.planned = store.computed;
  rows_planned_ = 0;
  plan_from_ = 0;
}

std::vector<std::uint32_t> Sequence::TakeBlocksToOffer() {
  std::vector<std::uint32_t> out;
  for (std::uint32_t index = 0; index < stores_.size(); ++index) {
    Store& store = stores_[index];
    const std::uint32_t tokens = TokensOf(index);
    if (store.source != Source::kPool || store.computed != tokens || store.offered == tokens)
      continue;
    if (!layout().MayOffer(store.blocks[0])) continue;
    const bool has_generated = layout().blocks()[store.blocks[0]].depth() > prompt_tokens_;
    if (has_generated && !options_.offers_generated) continue;
    store.offered = tokens;
    out.push_back(store.blocks[0]);
  }
  return out;
}

PoolBlock Sequence::PoolBlockOf(std::uint32_t block) const {
  CAIRN_CHECK(stores_[store_of_[block]].source == Source::kPool) << block;
  return stores_[store_of_[block]].pool;
}

}  // namespace cairn
