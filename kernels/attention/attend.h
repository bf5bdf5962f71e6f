#ifndef CAIRN_KERNELS_ATTENTION_ATTEND_H_
#define CAIRN_KERNELS_ATTENTION_ATTEND_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/attention/rotate.h"
#include "kernels/sk/rt/runtime.h"

// Attention of single rows (query tokens) over tiles whose keys RotateKeys has turned: prefill and
// decode alike, since a row's result depends on its own tile list only.
//
// A row sees all tokens of its tiles, of the last one only the first `last_tokens`: that is how a
// query inside a segment sees nothing behind itself. Four tiles are a split; splits start fresh and
// are folded in order.

namespace cairn::kernels {

inline constexpr std::uint32_t kSplitTiles = 4;

struct AttendRow {
  std::uint32_t first_tile;   // in the plan's tiles and the scratch
  std::uint32_t tile_count;   // 0: the row's output is zero
  std::uint32_t last_tokens;  // of the last tile; at most its tokens
  std::uint32_t position;     // of the query, from its origin
};

struct AttendParams {
  RotateParams
      keys;  // pool, shapes, table, tiles and scratch; V follows K in each layer of the pool
  const std::uint16_t* q = nullptr;  // [row][q_heads][head_dim], of keys.element, not rotated
  float* out = nullptr;              // [row][q_heads][head_dim]
  std::uint32_t q_heads = 0;         // a multiple of kv_heads
  float scale = 0;                   // of scores, before the softmax; finite
  const AttendRow* rows = nullptr;   // [*row_count], device memory
  const std::uint32_t* row_count = nullptr;  // one word of device memory
  std::uint32_t rows_max = 0;                // the grid's size: rows beyond are not done
};

// What is wrong with the parameters, or "".
std::string Validate(const AttendParams& params);
// The same for the kernels on tensor cores (decode.h, prefill.h), `kernel` being the error's first
// word: head_dim 64, 128 or 256, rotary_dim a multiple of 4, a positive scale, 16-byte alignment.
std::string ValidateForTiles(const AttendParams& params, const char* kernel);
// After RotateKeys(stream, params.keys).
rt::Status AttendRows(rt::Stream& stream, const AttendParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_ATTEND_H_
