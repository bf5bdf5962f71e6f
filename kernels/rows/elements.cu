#include "kernels/rows/elements.h"

#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kThreads = 128;  // a pair of elements each
constexpr float kLog2E = 1.44269504088896340736f;

// Far below 0, 2^x is infinite and the result 0; a NaN stays one.
SK_DEVICE float Silu(float gate) { return gate / (1.0f + sk::Ex2(-gate * kLog2E)); }

template <bool kGates>
SK_KERNEL void RoundElements(ElementsParams params) {
  const std::uint32_t row = sk::BlockIndexY();
  const std::uint32_t i = (sk::BlockIndexX() * kThreads + sk::ThreadIndex()) * 2;
  if (row >= *params.row_count || i >= params.width) return;
  const float* x = params.x + std::uint64_t{row} * params.width * (kGates ? 2 : 1);
  float low = x[sk::Index(i)];
  float high = x[sk::Index(i + 1)];
  if constexpr (kGates) {
    low = Silu(low) * x[sk::Index(params.width + i)];
    high = Silu(high) * x[sk::Index(params.width + i + 1)];
  }
  const std::uint64_t to = sk::Index(std::uint64_t{row});
  auto* y = reinterpret_cast<std::uint32_t*>(params.y + to * params.width);
  y[sk::Index(i / 2)] = sk::PackBf16(low, high);
}

template <bool kGates>
rt::Status LaunchElements(rt::Stream& stream, const ElementsParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  return rt::Launch(stream,
                    {.blocks_x = (params.width / 2 + kThreads - 1) / kThreads,
                     .blocks_y = params.rows_max,
                     .threads = kThreads},
                    RoundElements<kGates>, params);
}

}  // namespace

std::string Validate(const ElementsParams& params) {
  if (params.width == 0 || params.width % 2 != 0) {
    return "elements: width is " + std::to_string(params.width) + ", not even";
  }
  if (params.rows_max == 0 || params.rows_max > 65535) {
    return "elements: rows_max is " + std::to_string(params.rows_max) + ", not within 1 to 65535";
  }
  if (params.x == nullptr || params.y == nullptr || params.row_count == nullptr) {
    return "elements: a pointer is null";
  }
  return "";
}

rt::Status RoundRows(rt::Stream& stream, const ElementsParams& params) {
  return LaunchElements<false>(stream, params);
}
rt::Status SwigluRows(rt::Stream& stream, const ElementsParams& params) {
  return LaunchElements<true>(stream, params);
}

}  // namespace cairn::kernels
