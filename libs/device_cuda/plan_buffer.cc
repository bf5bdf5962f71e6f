#include "libs/device_cuda/plan_buffer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "libs/base/check.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

constexpr std::size_t kAlignment = 16;  // of every list
constexpr std::size_t kCountBytes = 32;

template <class T>
void Put(const std::vector<T>& list, std::byte* to) {
  if (!list.empty()) std::memcpy(to, list.data(), list.size() * sizeof(T));
}

template <class T>
const T* At(const std::byte* base, std::size_t offset) {
  return reinterpret_cast<const T*>(base + offset);
}

std::uint32_t UpToPower(std::size_t count) {
  return count == 0 ? 0 : static_cast<std::uint32_t>(std::bit_ceil(count));
}

std::uint32_t CountOf(std::size_t count) { return static_cast<std::uint32_t>(count); }

}  // namespace

StepShape StepShape::Of(const StepPlan& plan) {
  return {.rows = UpToPower(plan.rows.size()),
          .decode_rows = UpToPower(plan.decode.first_items.size()),
          .rotated_tiles = UpToPower(plan.rotated_tiles),
          .query_tiles = UpToPower(plan.query_tiles.size()),
          .logit_rows = UpToPower(plan.logit_rows.size()),
          .has_tokens = plan.token_rows > 0,
          .tiles = UpToPower(plan.tiles.size()),
          .decode_items = UpToPower(plan.decode.items.size())};
}

StepShape StepShape::Joined(const StepShape& other) const {
  return {.rows = std::max(rows, other.rows),
          .decode_rows = std::max(decode_rows, other.decode_rows),
          .rotated_tiles = std::max(rotated_tiles, other.rotated_tiles),
          .query_tiles = std::max(query_tiles, other.query_tiles),
          .logit_rows = std::max(logit_rows, other.logit_rows),
          .has_tokens = has_tokens || other.has_tokens,
          .takes_rows = takes_rows || other.takes_rows,
          .tiles = std::max(tiles, other.tiles),
          .decode_items = std::max(decode_items, other.decode_items)};
}

StepShape StepShape::Grids() const {
  StepShape grids = *this;
  grids.tiles = grids.decode_items = 0;
  return grids;
}

PlanBuffer::PlanBuffer(const StepShape& room) : room_(room) {
  std::size_t at = kCountBytes;
  const auto take = [&](std::size_t count, std::size_t bytes) {
    const std::size_t begin = at;
    at += RoundUp(count * bytes, kAlignment);
    return begin;
  };
  tokens_at_ = take(room.rows, sizeof(std::uint32_t));
  blocks_at_ = take(room.rows, sizeof(std::byte*));
  places_at_ = take(room.rows, sizeof(kernels::TokenPlace));
  rows_at_ = take(room.rows, sizeof(kernels::AttendRow));
  first_items_at_ = take(room.decode_rows, sizeof(std::uint32_t));
  query_tiles_at_ = take(room.query_tiles, sizeof(kernels::QueryTile));
  logit_rows_at_ = take(room.logit_rows, sizeof(std::uint32_t));
  items_at_ = take(room.decode_items, sizeof(kernels::DecodeItem));
  tiles_at_ =
      take(room.tiles, sizeof(kernels::RotateTile));  // the longest, so that its end can stay
  bytes_ = at;
}

std::size_t PlanBuffer::Write(const StepPlan& plan, std::byte* to) const {
  const kernels::DecodePlan& decode = plan.decode;
  CAIRN_CHECK(plan.rows.size() <= room_.rows);
  CAIRN_CHECK(decode.first_items.size() <= room_.decode_rows);
  CAIRN_CHECK(plan.query_tiles.size() <= room_.query_tiles);
  CAIRN_CHECK(plan.logit_rows.size() <= room_.logit_rows);
  CAIRN_CHECK(decode.items.size() <= room_.decode_items);
  CAIRN_CHECK(plan.tiles.size() <= room_.tiles);
  const std::uint32_t counts[8] = {CountOf(plan.rows.size()),
                                   CountOf(decode.first_items.size()),
                                   plan.rotated_tiles,
                                   CountOf(plan.query_tiles.size()),
                                   CountOf(plan.logit_rows.size()),
                                   CountOf(decode.items.size())};
  static_assert(sizeof counts == kCountBytes);
  std::memcpy(to, counts, sizeof counts);
  Put(plan.tokens, to + tokens_at_);
  Put(plan.blocks, to + blocks_at_);
  Put(plan.places, to + places_at_);
  Put(plan.rows, to + rows_at_);
  Put(decode.first_items, to + first_items_at_);
  Put(plan.query_tiles, to + query_tiles_at_);
  Put(plan.logit_rows, to + logit_rows_at_);
  Put(decode.items, to + items_at_);
  Put(plan.tiles, to + tiles_at_);
  return tiles_at_ + plan.tiles.size() * sizeof(kernels::RotateTile);
}

const std::uint32_t* PlanBuffer::Tokens(const std::byte* base) const {
  return At<std::uint32_t>(base, tokens_at_);
}
std::byte* const* PlanBuffer::Blocks(const std::byte* base) const {
  return At<std::byte*>(base, blocks_at_);
}
const kernels::TokenPlace* PlanBuffer::Places(const std::byte* base) const {
  return At<kernels::TokenPlace>(base, places_at_);
}
const kernels::AttendRow* PlanBuffer::Rows(const std::byte* base) const {
  return At<kernels::AttendRow>(base, rows_at_);
}
const std::uint32_t* PlanBuffer::FirstItems(const std::byte* base) const {
  return At<std::uint32_t>(base, first_items_at_);
}
const kernels::QueryTile* PlanBuffer::QueryTiles(const std::byte* base) const {
  return At<kernels::QueryTile>(base, query_tiles_at_);
}
const std::uint32_t* PlanBuffer::LogitRows(const std::byte* base) const {
  return At<std::uint32_t>(base, logit_rows_at_);
}
const kernels::DecodeItem* PlanBuffer::DecodeItems(const std::byte* base) const {
  return At<kernels::DecodeItem>(base, items_at_);
}
const kernels::RotateTile* PlanBuffer::Tiles(const std::byte* base) const {
  return At<kernels::RotateTile>(base, tiles_at_);
}

}  // namespace cairn
