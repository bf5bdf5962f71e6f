#include "kernels/copy/fetch.h"

#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kLoads = 4;  // in flight, of each thread
constexpr std::uint32_t kPieceBytes = kThreads * 16 * kLoads;

// Pieces of kPieceBytes are dealt out to the grid's blocks in turn.
SK_KERNEL void FetchPieces(FetchParams params) {
  const std::uint32_t pieces = (params.block_bytes + kPieceBytes - 1) / kPieceBytes;
  const std::uint64_t work = std::uint64_t{params.count} * pieces;
  for (std::uint64_t at = sk::BlockIndexX(); at < work; at += sk::BlockCountX()) {
    const FetchItem item = params.items[sk::Index(at / pieces)];
    const std::uint32_t begin = static_cast<std::uint32_t>(at % pieces) * kPieceBytes;
    std::byte* target = params.pool + sk::Index(std::uint64_t{item.slot}) * params.block_bytes;
    sk::Words4 values[kLoads];
    SK_UNROLL
    for (std::uint32_t k = 0; k < kLoads; ++k) {
      const std::uint32_t offset = begin + (k * kThreads + sk::ThreadIndex()) * 16;
      const std::byte* from = item.source + sk::Index(offset / 16) * 16;
      if (offset < params.block_bytes) values[k] = sk::LoadStreaming16(from);
    }
    SK_UNROLL
    for (std::uint32_t k = 0; k < kLoads; ++k) {
      const std::uint32_t offset = begin + (k * kThreads + sk::ThreadIndex()) * 16;
      std::byte* to = target + sk::Index(offset / 16) * 16;
      if (offset < params.block_bytes) sk::Store16(to, values[k]);
    }
  }
}

bool IsAligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

}  // namespace

std::string Validate(const FetchParams& params) {
  if (params.block_bytes == 0 || params.block_bytes % 16 != 0) {
    return "fetch: block_bytes is " + std::to_string(params.block_bytes) + ", no multiple of 16";
  }
  if (params.block_bytes > 1u << 30) {
    return "fetch: block_bytes is " + std::to_string(params.block_bytes) + ", over 2^30";
  }
  if (params.pool == nullptr || params.items == nullptr) return "fetch: a pointer is null";
  if (!IsAligned(params.pool) || !IsAligned(params.items)) {
    return "fetch: pool or items is not 16-byte aligned";
  }
  if (params.blocks == 0) return "fetch: a grid of 0 blocks";
  return "";
}

rt::Status FetchBlocks(rt::Stream& stream, const FetchParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  if (params.count == 0) return rt::Status();
  return rt::Launch(stream, {.blocks_x = params.blocks, .threads = kThreads}, FetchPieces, params);
}

}  // namespace cairn::kernels
