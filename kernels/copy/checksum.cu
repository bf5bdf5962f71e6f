#include "kernels/copy/checksum.h"

#include "kernels/copy/xxh3.h"
#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kGroups = kThreads / 8;  // groups of 8 lanes, each with a piece of its own

struct Group {
  std::uint64_t index;  // in the grid
  std::uint32_t mask;   // its lanes
  bool is_writer;
};
SK_DEVICE Group MyGroup() {
  const std::uint32_t lane = sk::LaneIndex();
  return {std::uint64_t{sk::BlockIndexX()} * kGroups + sk::ThreadIndex() / 8, 0xffu << lane / 8 * 8,
          lane % 8 == 0};
}

// One piece a group. Each byte is loaded by two lanes, the second time from L1; in flight are 64
// bytes a group and step: the simple kernel.
SK_KERNEL void SumPieces(ChecksumParams params) {
  const Group group = MyGroup();
  const std::uint32_t pieces = Pieces(params.block_bytes);
  const std::uint64_t block = group.index / pieces;
  if (block >= *params.count || block >= params.count_max) return;
  const std::uint32_t slot = params.slots[sk::Index(block)];
  if (slot >= params.pool_slots) return;
  const auto piece = static_cast<std::uint32_t>(group.index % pieces);
  const std::uint32_t begin = sk::Index(piece) * kPieceBytes;
  const std::uint32_t left = params.block_bytes - begin;
  const auto* words = reinterpret_cast<const std::uint64_t*>(
      params.pool + sk::Index(std::uint64_t{slot}) * params.block_bytes + begin);
  const std::uint64_t sum = Xxh3(words, left < kPieceBytes ? left : kPieceBytes, group.mask);
  if (group.is_writer) params.sums[sk::Index(group.index)] = sum;
}

// The pieces' sums of one block a group.
SK_KERNEL void SumSums(ChecksumParams params) {
  const Group group = MyGroup();
  const std::uint64_t block = group.index;
  if (block >= *params.count || block >= params.count_max) return;
  const std::uint32_t pieces = Pieces(params.block_bytes);
  const bool is_there = params.slots[sk::Index(block)] < params.pool_slots;
  const std::uint64_t* sums = params.sums + sk::Index(block * pieces);
  const std::uint64_t sum = is_there ? Xxh3(sums, pieces * 8, group.mask) : 0;
  if (group.is_writer) params.checksums[sk::Index(block)] = sum;
}

std::uint32_t GridFor(std::uint64_t groups) {
  return static_cast<std::uint32_t>((groups + kGroups - 1) / kGroups);
}

}  // namespace

std::string Validate(const ChecksumParams& params) {
  if (params.block_bytes == 0 || params.block_bytes % 8 != 0) {
    return "checksum: block_bytes is " + std::to_string(params.block_bytes) + ", no multiple of 8";
  }
  if (params.count_max == 0 || params.count_max > 1u << 20) {
    return "checksum: count_max is " + std::to_string(params.count_max) + ", not 1 to 2^20";
  }
  if (reinterpret_cast<std::uintptr_t>(params.pool) % 8 != 0) {
    return "checksum: the pool is not 8-byte aligned";
  }
  if (params.pool == nullptr || params.slots == nullptr || params.count == nullptr ||
      params.sums == nullptr || params.checksums == nullptr) {
    return "checksum: a pointer is null";
  }
  return "";
}

rt::Status ChecksumBlocks(rt::Stream& stream, const ChecksumParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  const std::uint64_t pieces = std::uint64_t{params.count_max} * Pieces(params.block_bytes);
  if (GridFor(pieces) == 0 || pieces / kGroups > 0x7fffffff)
    return rt::Status("checksum: too many pieces");
  rt::Status status =
      rt::Launch(stream, {.blocks_x = GridFor(pieces), .threads = kThreads}, SumPieces, params);
  if (!status.ok()) return status;
  return rt::Launch(stream, {.blocks_x = GridFor(params.count_max), .threads = kThreads}, SumSums,
                    params);
}

}  // namespace cairn::kernels
