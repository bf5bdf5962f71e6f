#ifndef CAIRN_KERNELS_ATTENTION_DECODE_H_
#define CAIRN_KERNELS_ATTENTION_DECODE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/attention/attend.h"

// Attention of few rows that each have many keys (decoding), by tensor cores: a row is cut into its
// splits (four tiles), which blocks take in turn; a second kernel folds each row's splits in order.
//
// Bits: those of AttendPrefill, whatever the other rows are, and whether keys are rotated on the
// way or read from the scratch. Not those of AttendRows, whose sums have another order.
//
// A step that also prefills lists its decoding rows first: AttendDecode takes the head of the list
// (with a row_count of its own, and a plan of these rows), AttendPrefill the rows behind. If keys
// are rotated in registers, RotateKeys' tile_count may end before the tiles that only decode reads.
//
// Every token below a tile's `tokens` has been written, also those that no row sees: a masked
// token's weight is 0, and 0 times a NaN is one.

namespace cairn::kernels {

// One split of one row.
struct DecodeItem {
  std::uint32_t row;          // in q and the output
  std::uint32_t first_tile;   // in the plan's tiles
  std::uint32_t tile_count;   // 1 to kSplitTiles
  std::uint32_t last_tokens;  // visible ones of its last tile, if it has as many
  std::uint32_t position;     // of the query, from its origin
};

struct DecodePlan {
  std::vector<DecodeItem> items;           // a row's splits in order, one after the other
  std::vector<std::uint32_t> first_items;  // of each row
};
DecodePlan PlanDecode(std::span<const AttendRow> rows);

enum class KeysFrom : std::uint32_t {
  kPool,     // rotated in registers; the scratch is not needed
  kScratch,  // after RotateKeys
};

struct DecodeParams {
  AttendParams rows;  // the plan's rows; rows_max is the merge's grid
  KeysFrom keys_from = KeysFrom::kPool;
  const DecodeItem* items = nullptr;           // [*item_count], device memory, as all of these
  const std::uint32_t* item_count = nullptr;   // one word
  const std::uint32_t* first_items = nullptr;  // [*row_count]
  std::uint32_t items_max = 0;       // room for partial results; rows with items beyond: not done
  float* partial_out = nullptr;      // [items_max][q_heads][head_dim]
  float* partial_softmax = nullptr;  // [items_max][q_heads][maximum, sum]
  std::uint32_t blocks = 0;          // the grid's size: as many as fit on all SMs
};
// Whether AttendDecode and AttendPrefill do this shape (other ones are AttendRows' business), and
// whether AttendDecode also rotates its keys in registers.
bool HasTileKernels(std::uint32_t head_dim, std::uint32_t rotary_dim, std::uint32_t group);
bool RotatesInRegisters(std::uint32_t head_dim, std::uint32_t rotary_dim);
// How many of AttendDecode's blocks fit on an SM of sm_90.
std::uint32_t DecodeBlocksPerSm(std::uint32_t head_dim);

// What is wrong with the parameters, or "". Of shapes there are head_dim 64, 128 and 256,
// rotary_dim a multiple of 4, 1 to 8 query heads a KV head; and of rotations in registers
// rotary_dim 64 of 64 or 256, 128 or 64 of 128.
std::string Validate(const DecodeParams& params);
rt::Status AttendDecode(rt::Stream& stream, const DecodeParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_DECODE_H_
