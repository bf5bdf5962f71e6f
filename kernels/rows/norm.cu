#include "kernels/rows/norm.h"

#include <cmath>

#include "kernels/rows/block_sum.h"
#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kThreads = 128;

struct alignas(16) Floats4 {
  float at[4];
};
struct alignas(8) Pairs2 {
  std::uint32_t low, high;
};

// One block a row; thread t has elements 4t..4t+3 of every 512, and sums them in that order. The
// row is read twice, the second time from L1.
SK_KERNEL void NormalizeRows(NormParams params) {
  const std::uint32_t row = sk::BlockIndexX();
  if (row >= *params.row_count) return;
  std::uint64_t from = row;
  if (params.picked != nullptr) from = params.picked[sk::Index(row)];
  const auto* x = reinterpret_cast<const Floats4*>(params.x + sk::Index(from) * params.width);
  const auto* weight = reinterpret_cast<const Floats4*>(params.weight);
  const std::uint64_t to = sk::Index(std::uint64_t{row});
  auto* y = reinterpret_cast<Pairs2*>(params.y + to * params.width);
  const std::uint32_t quads = params.width / 4;

  float sum = 0;
  for (std::uint32_t i = sk::ThreadIndex(); i < quads; i += kThreads) {
    const Floats4 value = x[sk::Index(i)];
    SK_UNROLL
    for (int j = 0; j < 4; ++j) sum = sk::Fma(value.at[j], value.at[j], sum);
  }
  const float mean = BlockSum(sum, reinterpret_cast<float*>(sk::SharedMemory())) /
                     static_cast<float>(params.width);
  const float scale = 1.0f / sqrtf(mean + params.epsilon);  // both rounded once, by IEEE's rule
  for (std::uint32_t i = sk::ThreadIndex(); i < quads; i += kThreads) {
    const Floats4 value = x[sk::Index(i)];
    const Floats4 w = weight[sk::Index(i)];
    const std::uint32_t low =
        sk::PackBf16(value.at[0] * scale * w.at[0], value.at[1] * scale * w.at[1]);
    const std::uint32_t high =
        sk::PackBf16(value.at[2] * scale * w.at[2], value.at[3] * scale * w.at[3]);
    y[sk::Index(i)] = {low, high};
  }
}

}  // namespace

std::string Validate(const NormParams& params) {
  if (params.width == 0 || params.width % 4 != 0) {
    return "norm: width is " + std::to_string(params.width) + ", not a multiple of 4";
  }
  if (!(params.epsilon > 0)) return "norm: epsilon is not above 0";
  if (params.rows_max == 0) return "norm: rows_max is 0";
  if (params.x == nullptr || params.weight == nullptr || params.y == nullptr ||
      params.row_count == nullptr) {
    return "norm: a pointer is null";
  }
  return "";
}

rt::Status NormRows(rt::Stream& stream, const NormParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  return rt::Launch(
      stream, {.blocks_x = params.rows_max, .threads = kThreads, .shared_bytes = kThreads / 32 * 4},
      NormalizeRows, params);
}

}  // namespace cairn::kernels
