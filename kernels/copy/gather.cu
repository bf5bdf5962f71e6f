#include "kernels/copy/gather.h"

#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kPieceBytes =
    kThreads * 16 * 4;  // of one step of a block: 4 loads in flight

// Pieces of kPieceBytes are dealt out to the grid's blocks in turn; each thread has 4 loads of 16
// bytes under way before its first store.
template <bool kToPool>
SK_KERNEL void MoveBlocks(GatherParams params) {
  const std::uint32_t pieces = (params.block_bytes + kPieceBytes - 1) / kPieceBytes;
  const std::uint64_t work = std::uint64_t{*params.count} * pieces;
  for (std::uint64_t item = sk::BlockIndexX(); item < work; item += sk::BlockCountX()) {
    const std::uint32_t i = static_cast<std::uint32_t>(item / pieces);
    const std::uint32_t begin = static_cast<std::uint32_t>(item % pieces) * kPieceBytes;
    const std::uint32_t slot = params.slots[sk::Index(i)];
    if (slot >= params.pool_slots) {
      if (begin == 0 && sk::ThreadIndex() == 0) sk::AtomicAdd(params.refused, 1u);
      continue;
    }
    std::byte* in_pool = params.pool + sk::Index(std::uint64_t{slot}) * params.block_bytes;
    std::byte* in_buffer = params.buffer + sk::Index(std::uint64_t{i}) * params.block_bytes;
    const std::byte* source = kToPool ? in_buffer : in_pool;
    std::byte* target = kToPool ? in_pool : in_buffer;
    sk::Words4 values[4];
    SK_UNROLL
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint32_t at = begin + (k * kThreads + sk::ThreadIndex()) * 16;
      const std::byte* from = source + sk::Index(at / 16) * 16;
      if (at < params.block_bytes) values[k] = sk::LoadStreaming16(from);
    }
    SK_UNROLL
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint32_t at = begin + (k * kThreads + sk::ThreadIndex()) * 16;
      std::byte* to = target + sk::Index(at / 16) * 16;
      if (at < params.block_bytes) sk::Store16(to, values[k]);
    }
  }
}

template <bool kToPool>
rt::Status Move(rt::Stream& stream, const GatherParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  return rt::Launch(stream, {.blocks_x = params.blocks, .threads = kThreads}, MoveBlocks<kToPool>,
                    params);
}

bool IsAligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

}  // namespace

std::string Validate(const GatherParams& params) {
  if (params.block_bytes == 0 || params.block_bytes % 16 != 0) {
    return "gather: block_bytes is " + std::to_string(params.block_bytes) + ", no multiple of 16";
  }
  if (!IsAligned(params.pool) || !IsAligned(params.buffer)) {
    return "gather: pool or buffer is not 16-byte aligned";
  }
  if (params.pool == nullptr || params.buffer == nullptr || params.slots == nullptr ||
      params.count == nullptr || params.refused == nullptr) {
    return "gather: a pointer is null";
  }
  if (params.blocks == 0) return "gather: a grid of 0 blocks";
  return "";
}

rt::Status GatherBlocks(rt::Stream& stream, const GatherParams& params) {
  return Move<false>(stream, params);
}
rt::Status ScatterBlocks(rt::Stream& stream, const GatherParams& params) {
  return Move<true>(stream, params);
}

}  // namespace cairn::kernels
