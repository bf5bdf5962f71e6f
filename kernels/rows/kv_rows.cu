#include "kernels/rows/kv_rows.h"

#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kThreads = 128;

// One token of one layer is 2 kv_heads runs of head_dim values in a block; in pieces of 16 bytes,
// where piece i of all of them is, counted from the block's start.
SK_DEVICE std::uint64_t PieceInBlock(const KvBlocks& blocks, std::uint32_t layer,
                                     std::uint32_t token, std::uint32_t i) {
  const std::uint32_t run_pieces = blocks.head_dim / 8, runs = 2 * blocks.kv_heads;
  const std::uint64_t run = std::uint64_t{layer} * runs + i / run_pieces;
  return (run * blocks.block_tokens + token) * run_pieces + i % run_pieces;
}

// One block a row, a piece a thread and step.
SK_KERNEL void StoreRows(StoreKvParams params) {
  const std::uint32_t row = sk::BlockIndexX();
  if (row >= *params.row_count) return;
  const KvBlocks& blocks = params.blocks;
  const TokenPlace place = params.places[sk::Index(row)];
  const std::uint32_t pieces = 2 * blocks.kv_heads * (blocks.head_dim / 8);
  std::byte* block = blocks.pool + sk::Index(place.slot) * blocks.block_bytes;
  for (std::uint32_t i = sk::ThreadIndex(); i < pieces; i += kThreads) {
    const std::uint64_t from = sk::Index(std::uint64_t{row} * pieces + i);
    const std::uint64_t to = sk::Index(PieceInBlock(blocks, params.layer, place.token, i));
    sk::Store16(block + to * 16, sk::Load16(params.kv + from * 8));
  }
}

// One block a (row, layer).
SK_KERNEL void TakeRows(TakeKvParams params) {
  const std::uint32_t row = sk::BlockIndexX(), layer = sk::BlockIndexY();
  if (row >= *params.row_count) return;
  const KvBlocks& blocks = params.blocks;
  const TokenPlace place = params.places[sk::Index(row)];
  const std::uint32_t pieces = 2 * blocks.kv_heads * (blocks.head_dim / 8);
  const std::byte* block = blocks.pool + sk::Index(place.slot) * blocks.block_bytes;
  std::byte* host_block =
      params.host_blocks == nullptr ? nullptr : params.host_blocks[sk::Index(row)];
  for (std::uint32_t i = sk::ThreadIndex(); i < pieces; i += kThreads) {
    const std::uint64_t from = sk::Index(PieceInBlock(blocks, layer, place.token, i));
    const sk::Words4 value = sk::Load16(block + from * 16);
    if (host_block != nullptr) {
      const std::uint64_t to = sk::Index(PieceInBlock(blocks, layer, place.token, i));
      sk::Store16(host_block + to * 16, value);
    } else {
      const std::uint64_t to = sk::Index((std::uint64_t{row} * blocks.layers + layer) * pieces + i);
      sk::Store16(params.rows + to * 8, value);
    }
  }
}

bool IsAligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

std::string Wrong(const char* field, std::uint64_t value, const char* wanted) {
  return std::string("kv rows: ") + field + " is " + std::to_string(value) + ", not " + wanted;
}

std::string Validate(const KvBlocks& blocks) {
  if (blocks.head_dim == 0 || blocks.head_dim % 8 != 0) {
    return Wrong("head_dim", blocks.head_dim, "a multiple of 8");
  }
  if (blocks.kv_heads == 0) return Wrong("kv_heads", 0, "1 or more");
  if (blocks.block_tokens == 0) return Wrong("block_tokens", 0, "1 or more");
  if (blocks.layers == 0 || blocks.layers > 65535) {
    return Wrong("layers", blocks.layers, "within 1 to 65535");
  }
  const std::uint64_t bytes = std::uint64_t{blocks.layers} * 2 * blocks.kv_heads *
                              blocks.block_tokens * blocks.head_dim * 2;
  if (blocks.block_bytes % 16 != 0 || blocks.block_bytes < bytes) {
    return Wrong("block_bytes", blocks.block_bytes, "a multiple of 16 that holds all layers");
  }
  if (blocks.pool == nullptr || !IsAligned(blocks.pool)) {
    return "kv rows: the pool is null or not 16-byte aligned";
  }
  return "";
}

}  // namespace

std::string Validate(const StoreKvParams& params) {
  if (std::string wrong = Validate(params.blocks); !wrong.empty()) return wrong;
  if (params.layer >= params.blocks.layers)
    return Wrong("layer", params.layer, "one of the layers");
  if (params.rows_max == 0) return Wrong("rows_max", 0, "1 or more");
  if (params.kv == nullptr || params.places == nullptr || params.row_count == nullptr) {
    return "kv rows: a pointer is null";
  }
  if (!IsAligned(params.kv)) return "kv rows: kv is not 16-byte aligned";
  return "";
}

std::string Validate(const TakeKvParams& params) {
  if (std::string wrong = Validate(params.blocks); !wrong.empty()) return wrong;
  if (params.rows_max == 0) return Wrong("rows_max", 0, "1 or more");
  if (params.places == nullptr || params.row_count == nullptr) {
    return "kv rows: a pointer is null";
  }
  if ((params.host_blocks == nullptr) == (params.rows == nullptr)) {
    return "kv rows: neither or both of host_blocks and rows";
  }
  if (!IsAligned(params.rows)) return "kv rows: rows is not 16-byte aligned";
  return "";
}

rt::Status StoreKv(rt::Stream& stream, const StoreKvParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  return rt::Launch(stream, {.blocks_x = params.rows_max, .threads = kThreads}, StoreRows, params);
}

rt::Status TakeKv(rt::Stream& stream, const TakeKvParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  return rt::Launch(
      stream, {.blocks_x = params.rows_max, .blocks_y = params.blocks.layers, .threads = kThreads},
      TakeRows, params);
}

}  // namespace cairn::kernels
