#ifndef CAIRN_KERNELS_ROWS_KV_ROWS_H_
#define CAIRN_KERNELS_ROWS_KV_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/sk/rt/runtime.h"

// New keys and values: from a layer's rows into the pool's blocks, and, when all layers are done,
// from there to the host.

namespace cairn::kernels {

// The pool: [slots][block_bytes], a block [layer][K|V][kv_head][token][dim] in bf16.
struct KvBlocks {
  std::byte* pool = nullptr;      // 16-byte aligned
  std::uint64_t block_bytes = 0;  // a multiple of 16
  std::uint32_t block_tokens = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t head_dim = 0;  // a multiple of 8
  std::uint32_t layers = 0;
};

// Where a row's token is in the pool.
struct TokenPlace {
  std::uint32_t slot;   // which block
  std::uint32_t token;  // in the block
};

struct StoreKvParams {
  KvBlocks blocks;
  const std::uint16_t* kv = nullptr;   // [row][K|V][kv_heads][head_dim], bf16, 16-byte aligned
  const TokenPlace* places = nullptr;  // [*row_count], device memory, all different
  std::uint32_t layer = 0;
  const std::uint32_t* row_count = nullptr;  // one word of device memory
  std::uint32_t rows_max = 0;                // the grid's size: rows beyond are not done
};

// All layers' keys and values of the rows, in memory of the host that the device can write to: into
// the block of the host that each row's block is a copy of, or one row after the other.
struct TakeKvParams {
  KvBlocks blocks;
  const TokenPlace* places = nullptr;        // [*row_count], device memory
  std::byte* const* host_blocks = nullptr;   // [*row_count], device memory; 16-byte aligned each
  std::uint16_t* rows = nullptr;             // or: [row][layer][K|V][kv_heads][head_dim]
  const std::uint32_t* row_count = nullptr;  // one word of device memory
  std::uint32_t rows_max = 0;                // the grid's size: rows beyond are not done
};

// What is wrong with the parameters, or "".
std::string Validate(const StoreKvParams& params);
std::string Validate(const TakeKvParams& params);

rt::Status StoreKv(rt::Stream& stream, const StoreKvParams& params);
rt::Status TakeKv(rt::Stream& stream, const TakeKvParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ROWS_KV_ROWS_H_
