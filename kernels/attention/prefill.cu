#include "kernels/attention/prefill.h"

#include "kernels/attention/prefill_kernel.h"

namespace cairn::kernels {
namespace {

template <class Element, std::uint32_t kDim>
rt::Status LaunchRows(rt::Stream& stream, const PrefillParams& params) {
  return rt::Launch(stream,
                    {.blocks_x = params.query_tiles_max,
                     .blocks_y = params.rows.q_heads,
                     .threads = kTileThreads,
                     .shared_bytes = PrefillMemory<kDim>::kBytes},
                    PrefillRows<Element, kDim>, params);
}

template <class Element>
rt::Status LaunchFor(rt::Stream& stream, const PrefillParams& params) {
  const std::uint32_t dim = params.rows.keys.head_dim;
  if (dim == 64) return LaunchRows<Element, 64>(stream, params);
  if (dim == 128) return LaunchRows<Element, 128>(stream, params);
  return LaunchRows<Element, 256>(stream, params);
}

}  // namespace

std::vector<QueryTile> PlanQueryTiles(std::span<const AttendRow> rows, std::uint32_t first_row,
                                      std::uint32_t rows_max) {
  std::vector<QueryTile> tiles;
  for (std::uint32_t i = first_row; i < rows.size(); ++i) {
    const bool joins = !tiles.empty() && tiles.back().row_count < rows_max &&
                       rows[tiles.back().first_row].first_tile == rows[i].first_tile;
    if (joins) {
      ++tiles.back().row_count;
    } else {
      tiles.push_back({i, 1});
    }
  }
  return tiles;
}

std::string Validate(const PrefillParams& params, const char* kernel) {
  if (std::string wrong = ValidateForTiles(params.rows, kernel); !wrong.empty()) return wrong;
  if (params.query_tiles_max == 0 || params.query_tiles_max > 1u << 30) {
    return std::string(kernel) + ": query_tiles_max is " + std::to_string(params.query_tiles_max) +
           ", not 1 to 2^30";
  }
  if (params.query_tiles == nullptr || params.query_tile_count == nullptr) {
    return std::string(kernel) + ": a pointer is null";
  }
  return "";
}

rt::Status AttendPrefill(rt::Stream& stream, const PrefillParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  const bool is_f16 = params.rows.keys.element == ElementType::kF16;
  return is_f16 ? LaunchFor<F16>(stream, params) : LaunchFor<Bf16>(stream, params);
}

}  // namespace cairn::kernels
