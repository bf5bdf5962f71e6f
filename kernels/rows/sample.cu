#include "kernels/rows/sample.h"

#include <cstring>

#include "kernels/rows/block_sum.h"
#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kWarps = kThreads / 32;
constexpr std::uint32_t kNoToken = 0xffffffff;
constexpr float kLog2E = 1.44269504088896340736f;
constexpr float kLn2 = 0.69314718055994530942f;

struct Best {
  float logit;
  std::uint32_t token;
};

SK_DEVICE float NegativeInfinity() {
  const std::uint32_t bits = 0xff800000;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// The larger logit, of equal ones the lower token: whatever the order, the same.
SK_DEVICE Best Better(Best a, Best b) {
  const bool is_b = b.logit > a.logit || (b.logit == a.logit && b.token < a.token);
  return is_b ? b : a;
}

SK_DEVICE Best BlockBest(Best best, Best* words) {
  for (std::uint32_t step = 16; step > 0; step /= 2) {
    Best other;
    other.logit = sk::ShuffleXor(best.logit, step);
    other.token = sk::ShuffleXor(best.token, step);
    best = Better(best, other);
  }
  const std::uint32_t mine = sk::Index(sk::WarpIndex());
  if (sk::LaneIndex() == 0) words[mine] = best;
  sk::SyncBlock();
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    best = Better(best, words[sk::Index(warp)]);
  }
  return best;
}

// Of a finite x >= 1, within 2e-7 (relative; absolute below 1): x = 2^e m with m from 0.7 to 1.41,
// ln m = 2 artanh((m - 1) / (m + 1)).
SK_DEVICE float Log(float x) {
  if (!(x <= 3.4e38f)) return x;  // NaN and infinity stay
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  float exponent = static_cast<float>(static_cast<std::int32_t>(bits >> 23) - 127);
  bits = (bits & 0x7fffff) | 0x3f800000;
  float m;
  memcpy(&m, &bits, sizeof m);
  if (m > 1.41421356f) {
    m *= 0.5f;
    exponent += 1.0f;
  }
  const float s = (m - 1.0f) / (m + 1.0f), square = s * s;
  float series = sk::Fma(square, 1.0f / 9, 1.0f / 7);
  series = sk::Fma(square, series, 1.0f / 5);
  series = sk::Fma(square, series, 1.0f / 3);
  series = sk::Fma(square * series, s, s);
  return sk::Fma(exponent, kLn2, 2.0f * series);
}

// One block a row; thread t has tokens t, t + 256, ... The row is read twice.
SK_KERNEL void SummarizeRows(SampleParams params) {
  const std::uint32_t row = sk::BlockIndexX();
  if (row >= *params.row_count) return;
  const std::uint64_t from = sk::Index(std::uint64_t{row});
  const float* logits = params.logits + from * params.vocabulary;
  auto* bests = reinterpret_cast<Best*>(sk::SharedMemory());
  auto* sums = reinterpret_cast<float*>(bests + kWarps);

  Best best = {NegativeInfinity(), kNoToken};
  for (std::uint32_t i = sk::ThreadIndex(); i < params.vocabulary; i += kThreads) {
    const float logit = logits[sk::Index(i)];
    if (logit > best.logit) best = {logit, i};
  }
  best = BlockBest(best, bests);

  float sum = 0;
  for (std::uint32_t i = sk::ThreadIndex(); i < params.vocabulary; i += kThreads) {
    const float logit = logits[sk::Index(i)];
    sum += sk::Ex2((logit - best.logit) * kLog2E);
  }
  sum = BlockSum(sum, sums);
  if (sk::ThreadIndex() != 0) return;
  const bool is_none = best.token == kNoToken;
  params.summaries[sk::Index(row)] = {is_none ? 0 : best.token, best.logit,
                                      is_none ? best.logit : best.logit + Log(sum)};
}

}  // namespace

std::string Validate(const SampleParams& params) {
  if (params.vocabulary == 0 || params.vocabulary >= kNoToken) {
    return "sample: vocabulary is " + std::to_string(params.vocabulary);
  }
  if (params.rows_max == 0) return "sample: rows_max is 0";
  if (params.logits == nullptr || params.summaries == nullptr || params.row_count == nullptr) {
    return "sample: a pointer is null";
  }
  return "";
}

rt::Status SummarizeLogits(rt::Stream& stream, const SampleParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  return rt::Launch(stream,
                    {.blocks_x = params.rows_max,
                     .threads = kThreads,
                     .shared_bytes = kWarps * (sizeof(Best) + sizeof(float))},
                    SummarizeRows, params);
}

}  // namespace cairn::kernels
