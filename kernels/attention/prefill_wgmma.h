#ifndef CAIRN_KERNELS_ATTENTION_PREFILL_WGMMA_H_
#define CAIRN_KERNELS_ATTENTION_PREFILL_WGMMA_H_

#include <cstdint>
#include <string>

#include "kernels/attention/prefill.h"
#include "kernels/attention/swizzle_tiles.h"

// Attention of many rows that share their keys, by wgmma: up to 128 rows at a time go through the
// tiles together. K' and V come from SwizzleTiles' scratch.
//
// Bits: the program of a row is that of AttendPrefill (row_program.h), but its products are
// wgmma's, whose sums have an order of their own. So these are NOT the bits of AttendPrefill and
// AttendDecode (another `numerics` word), but here, too, a row's depend on its own query, position
// and tiles only: not on the rows beside it, nor on its place among them, nor on where a prompt was
// cut.
// As in decode.h, every token below a tile's `tokens` has been written, seen or not.

namespace cairn::kernels {

// Rows of a query tile: what PlanQueryTiles is to be told.
constexpr std::uint32_t WgmmaQueryTileRows(std::uint32_t head_dim) {
  return head_dim > 128 ? 64 : 128;
}

// PrefillParams, but: query tiles have 1 to WgmmaQueryTileRows(head_dim) rows, and
// rows.keys.scratch is what SwizzleTiles filled (twice as large, in another order).
//
// What is wrong with the parameters, or "". head_dim is 64, 128 or 256.
std::string ValidateForWgmma(const PrefillParams& params);
// After SwizzleTiles(stream, params.rows.keys).
rt::Status AttendPrefillWgmma(rt::Stream& stream, const PrefillParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_PREFILL_WGMMA_H_
