#include "kernels/rows/embed.h"

#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kThreads = 128;  // a pair each

struct alignas(8) Floats2 {
  float low, high;
};

SK_KERNEL void WidenRows(EmbedParams params) {
  const std::uint32_t row = sk::BlockIndexY();
  const std::uint32_t i = (sk::BlockIndexX() * kThreads + sk::ThreadIndex()) * 2;
  if (row >= *params.row_count || i >= params.width) return;
  const std::uint64_t from = std::uint64_t{params.tokens[sk::Index(row)]} * params.width + i;
  const auto* table = reinterpret_cast<const std::uint32_t*>(params.table);
  const std::uint32_t pair = table[sk::Index(from / 2)];
  const std::uint64_t to_row = sk::Index(std::uint64_t{row});
  auto* to = reinterpret_cast<Floats2*>(params.x + to_row * params.width);
  to[sk::Index(i / 2)] = {sk::LowBf16(pair), sk::HighBf16(pair)};
}

}  // namespace

std::string Validate(const EmbedParams& params) {
  if (params.width == 0 || params.width % 2 != 0) {
    return "embed: width is " + std::to_string(params.width) + ", not even";
  }
  if (params.rows_max == 0 || params.rows_max > 65535) {
    return "embed: rows_max is " + std::to_string(params.rows_max) + ", not within 1 to 65535";
  }
  if (params.table == nullptr || params.tokens == nullptr || params.x == nullptr ||
      params.row_count == nullptr) {
    return "embed: a pointer is null";
  }
  return "";
}

rt::Status EmbedRows(rt::Stream& stream, const EmbedParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  return rt::Launch(stream,
                    {.blocks_x = (params.width / 2 + kThreads - 1) / kThreads,
                     .blocks_y = params.rows_max,
                     .threads = kThreads},
                    WidenRows, params);
}

}  // namespace cairn::kernels
