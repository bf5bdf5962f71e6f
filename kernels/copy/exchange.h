#ifndef CAIRN_KERNELS_COPY_EXCHANGE_H_
#define CAIRN_KERNELS_COPY_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/attention/rotate.h"
#include "kernels/rows/kv_rows.h"
#include "kernels/sk/rt/runtime.h"

// Blocks of the pool, whose keys are unrotated, from and to the paged KV cache of an engine that
// holds rotated ones. The copy changes the layout and turns the keys; values stay as they are.
//
// Export: k' = round(R_p0 (R_l k)), bit for bit what RotateKeys writes to the scratch.
// Import: k = round(R_-l (R_-p0 k')), in fp32 too. k' was rounded after it had been turned, so k is
// not the key that the engine had before: of a pair (x, y), |k - that key| is at most one unit of
// rounding u (2^-8 in bf16, 2^-11 in f16) of sqrt(x^2 + y^2) and one of k itself, beside what the
// engine's own rotation was off. The same holds for export(import(k')) against k'. Hence blocks of
// imported keys are not those of the same tokens that were computed here, and need a word of their
// own in their identity (README, "Engines that hold rotated keys").
//
// rotary_dim = 0: keys are copied as they are, too: layouts change, bytes do not. For entries that
// are kept rotated.

namespace cairn::kernels {

// In bytes; a head's values of one token are contiguous.
struct EngineStrides {
  std::uint64_t block = 0, token = 0, head = 0;
};
// [block][token][head][dim] ("NHD") and [block][head][token][dim] ("HND") of 16-bit values. Where K
// and V alternate, [block][K|V]..., the block's stride is twice that.
constexpr EngineStrides TokenMajor(std::uint64_t block_tokens, std::uint64_t kv_heads,
                                   std::uint64_t head_dim) {
  return {block_tokens * kv_heads * head_dim * 2, kv_heads * head_dim * 2, head_dim * 2};
}
constexpr EngineStrides HeadMajor(std::uint64_t block_tokens, std::uint64_t kv_heads,
                                  std::uint64_t head_dim) {
  return {block_tokens * kv_heads * head_dim * 2, head_dim * 2, block_tokens * head_dim * 2};
}

// An engine's cache. Its token t is token t % block_tokens of block t / block_tokens, as the slot
// mappings of vLLM and LMCache and the KV indices of SGLang number them.
struct EngineCache {
  // [layer_count], device memory: where token 0's first head is, per layer; device memory or memory
  // of the host that the device can reach. None overlaps another.
  std::byte* const* keys = nullptr;
  std::byte* const* values = nullptr;
  std::uint32_t layer_count = 0;
  std::uint32_t first_layer = 0;  // of the pool's blocks, that the engine's layer 0 is
  EngineStrides strides;
  std::uint32_t block_tokens = 0;  // any: the pool's blocks need not have as many
  std::uint32_t tokens = 0;        // in all blocks: one beyond is refused
  bool is_aligned = false;  // all pointers of keys and values are 16-byte aligned: the fast kernel
};

// A block of the pool and what it holds.
struct ExchangeBlock {
  std::uint32_t slot;      // of the pool; import: all different
  std::uint32_t tokens;    // up to the pool's block_tokens. Slots behind them: zero in the pool,
                           // not touched in the engine
  std::uint32_t position;  // of the first token of the block's tile, from the queries' origin
  std::uint32_t first_in_tile;  // which of that tile's 64 tokens is the block's first; 0 where the
                                // block is a tile by itself: `position` is its own then
};

struct ExchangeParams {
  KvBlocks blocks;  // 16-bit values of `element`; block_tokens up to 64; head_dim up to 256
  std::uint32_t pool_slots = 0;
  EngineCache engine;
  ElementType element = ElementType::kBf16;
  RotaryPairs pairs = RotaryPairs::kHalfSplit;
  std::uint32_t rotary_dim = 0;         // even, at most head_dim; the rest is copied
  const float* table = nullptr;         // [position][rotary_dim / 2][cos, sin], built in fp64: pure
                                        // rotations; null where rotary_dim is 0
  std::uint32_t positions = 0;          // rows of the table, at least 64
  const ExchangeBlock* list = nullptr;  // [*count], device memory
  // [*count][blocks.block_tokens], device memory: where each token is in the engine's cache; those
  // behind a block's tokens are not looked at. Export: all different.
  const std::uint32_t* engine_tokens = nullptr;
  const std::uint32_t* count = nullptr;  // one word of device memory: known when the kernel runs
  // One word of device memory, counted up by each block of which nothing is moved: its slot is not
  // in the pool, it has too many tokens, one of them is not in the engine's cache, its position is
  // not in the table, or it does not fit into its tile.
  std::uint32_t* refused = nullptr;
  std::uint32_t grid = 8;  // thread blocks: few, since copies share the SMs with others
};

// What is wrong with the parameters, or "".
std::string Validate(const ExchangeParams& params);

// Engine to pool. The pool's other layers, and what is behind a block's layers, are not touched.
rt::Status ImportBlocks(rt::Stream& stream, const ExchangeParams& params);
// Pool to engine.
rt::Status ExportBlocks(rt::Stream& stream, const ExchangeParams& params);
// The same bits by a kernel that is as simple as can be, and does every shape: the others fall back
// to it where rotary_dim is no multiple of 16 or something is not 16-byte aligned.
rt::Status ImportBlocksSimply(rt::Stream& stream, const ExchangeParams& params);
rt::Status ExportBlocksSimply(rt::Stream& stream, const ExchangeParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_COPY_EXCHANGE_H_
