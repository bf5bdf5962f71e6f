#include "libs/device_cuda/plan_buffer.h"

#include <bit>
#include <cstring>

#include "libs/base/check.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

constexpr std::size_t kAlignment = 16;  // of every list
constexpr std::size_t kCountBytes = 16;

template <class T>
void Put(const std::vector<T>& list, std::byte* to) {
  if (!list.empty()) std::memcpy(to, list.data(), list.size() * sizeof(T));
}

std::uint32_t UpToPower(std::size_t count) {
  return count == 0 ? 0 : static_cast<std::uint32_t>(std::bit_ceil(count));
}

}  // namespace

StepShape StepShape::Of(const StepPlan& plan) {
  return {.rows = UpToPower(plan.rows.size()),
          .tiles = UpToPower(plan.tiles.size()),
          .logit_rows = UpToPower(plan.logit_rows.size())};
}

PlanBuffer::PlanBuffer(const StepShape& shape) : shape_(shape) {
  std::size_t at = kCountBytes;
  const auto take = [&](std::size_t count, std::size_t bytes) {
    const std::size_t begin = at;
    at += RoundUp(count * bytes, kAlignment);
    return begin;
  };
  tokens_at_ = take(shape.rows, sizeof(std::uint32_t));
  blocks_at_ = take(shape.rows, sizeof(std::byte*));
  places_at_ = take(shape.rows, sizeof(kernels::TokenPlace));
  rows_at_ = take(shape.rows, sizeof(kernels::AttendRow));
  tiles_at_ = take(shape.tiles, sizeof(kernels::RotateTile));
  logit_rows_at_ = take(shape.logit_rows, sizeof(std::uint32_t));
  bytes_ = at;
}

void PlanBuffer::Write(const StepPlan& plan, std::byte* to) const {
  CAIRN_CHECK(plan.rows.size() <= shape_.rows);
  CAIRN_CHECK(plan.tiles.size() <= shape_.tiles);
  CAIRN_CHECK(plan.logit_rows.size() <= shape_.logit_rows);
  const std::uint32_t counts[4] = {static_cast<std::uint32_t>(plan.rows.size()),
                                   static_cast<std::uint32_t>(plan.tiles.size()),
                                   static_cast<std::uint32_t>(plan.logit_rows.size()), 0};
  static_assert(sizeof counts == kCountBytes);
  std::memcpy(to, counts, sizeof counts);
  Put(plan.tokens, to + tokens_at_);
  Put(plan.blocks, to + blocks_at_);
  Put(plan.places, to + places_at_);
  Put(plan.rows, to + rows_at_);
  Put(plan.tiles, to + tiles_at_);
  Put(plan.logit_rows, to + logit_rows_at_);
}

const std::uint32_t* PlanBuffer::Tokens(const std::byte* base) const {
  return reinterpret_cast<const std::uint32_t*>(base + tokens_at_);
}
std::byte* const* PlanBuffer::Blocks(const std::byte* base) const {
  return reinterpret_cast<std::byte* const*>(base + blocks_at_);
}
const kernels::TokenPlace* PlanBuffer::Places(const std::byte* base) const {
  return reinterpret_cast<const kernels::TokenPlace*>(base + places_at_);
}
const kernels::AttendRow* PlanBuffer::Rows(const std::byte* base) const {
  return reinterpret_cast<const kernels::AttendRow*>(base + rows_at_);
}
const kernels::RotateTile* PlanBuffer::Tiles(const std::byte* base) const {
  return reinterpret_cast<const kernels::RotateTile*>(base + tiles_at_);
}
const std::uint32_t* PlanBuffer::LogitRows(const std::byte* base) const {
  return reinterpret_cast<const std::uint32_t*>(base + logit_rows_at_);
}

}  // namespace cairn
