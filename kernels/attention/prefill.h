#ifndef CAIRN_KERNELS_ATTENTION_PREFILL_H_
#define CAIRN_KERNELS_ATTENTION_PREFILL_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/attention/attend.h"

// Attention of many rows that share their keys (prefill), by tensor cores: up to 64 rows at a time
// go through the tiles together. Keys come from the scratch (RotateKeys), V from the pool.
//
// Bits: those of AttendDecode (decode.h), which says what holds for both. How rows are put together
// to query tiles changes none.

namespace cairn::kernels {

inline constexpr std::uint32_t kQueryTileRows = 64;

// Rows that are handled together: their lists begin with the same tile.
struct QueryTile {
  std::uint32_t first_row;
  std::uint32_t row_count;  // 1 to kQueryTileRows; of AttendPrefillWgmma's, twice as many
};
// Of the rows from `first_row` on: consecutive ones of the same first tile, up to `rows_max` (at
// least 1) at a time.
std::vector<QueryTile> PlanQueryTiles(std::span<const AttendRow> rows, std::uint32_t first_row,
                                      std::uint32_t rows_max = kQueryTileRows);

struct PrefillParams {
  AttendParams rows;                                // the plan's rows
  const QueryTile* query_tiles = nullptr;           // [*query_tile_count], device memory
  const std::uint32_t* query_tile_count = nullptr;  // one word of device memory
  std::uint32_t query_tiles_max = 0;                // the grid's size: tiles beyond are not done
};

// What is wrong with the parameters, or "", `kernel` being the error's first word. head_dim is 64,
// 128 or 256.
std::string Validate(const PrefillParams& params, const char* kernel = "prefill");
// After RotateKeys(stream, params.rows.keys).
rt::Status AttendPrefill(rt::Stream& stream, const PrefillParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_PREFILL_H_
