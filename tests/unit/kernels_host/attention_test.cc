// Attention against double arithmetic: rotated keys (HostOps::rotate) and a plain softmax.
#include <algorithm>
#include <cmath>

#include "tests/unit/kernels_host/attention_world.h"

namespace cairn::host {
namespace {

// What the pool keeps of a row: rounded to its dtype.
std::vector<float> AsStored(const AttentionWorld& world, const float* row) {
  std::vector<float> out(row, row + world.options.head_dim);
  if (world.options.dtype == KvDtype::kBf16) {
    for (float& x : out) x = RoundedToBf16(x);
  }
  return out;
}

struct Seen {
  std::vector<float> k;  // rotated
  std::vector<float> v;
};

// Keys and values that own row `row` sees for one KV head, in prompt order.
std::vector<Seen> KeysSeenBy(const AttentionWorld& world, std::uint32_t row,
                             std::uint32_t kv_head) {
  const WorldOptions& o = world.options;
  std::vector<Seen> seen;
  for (std::size_t s = 0; s <= world.before.size(); ++s) {
    const bool own = s == world.before.size();
    const std::uint32_t tokens = own ? row + 1 : world.before[s].tokens;
    const std::uint32_t position = own ? world.own_position : world.before[s].position;
    for (std::uint32_t t = 0; t < tokens; ++t) {
      const std::size_t at = (static_cast<std::size_t>(t) * o.kv_heads + kv_head) * o.head_dim;
      Seen one{AsStored(world, &world.k[s][at]), AsStored(world, &world.v[s][at])};
      world.ops->rotate(world.table.view(), position + t, one.k.data(), o.head_dim, one.k.data());
      seen.push_back(std::move(one));
    }
  }
  return seen;
}

double WorstError(const AttentionWorld& world, const std::vector<float>& out, std::uint32_t row) {
  const WorldOptions& o = world.options;
  double worst = 0;
  for (std::uint32_t h = 0; h < o.q_heads; ++h) {
    const std::vector<Seen> seen = KeysSeenBy(world, row, h / (o.q_heads / o.kv_heads));
    std::vector<float> q(o.head_dim);
    const std::size_t at = row * world.QWidth() + h * o.head_dim;
    world.ops->rotate(world.table.view(), world.own_position + row, &world.q[at], o.head_dim,
                      q.data());
    std::vector<double> scores;
    double most = -INFINITY;
    for (const Seen& one : seen) {
      double score = 0;
      for (std::uint32_t d = 0; d < o.head_dim; ++d) score += static_cast<double>(q[d]) * one.k[d];
      scores.push_back(score / std::sqrt(static_cast<double>(o.head_dim)));
      most = std::max(most, scores.back());
    }
    std::vector<double> expected(o.head_dim);
    double sum = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const double p = std::exp(scores[i] - most);
      sum += p;
      for (std::uint32_t d = 0; d < o.head_dim; ++d) expected[d] += p * seen[i].v[d];
    }
    for (std::uint32_t d = 0; d < o.head_dim; ++d) {
      worst = std::max(worst, std::fabs(out[at + d] - expected[d] / sum));
    }
  }
  return worst;
}

using AttentionTest = TierTest;

// Values are near 1 and scores up to 30: an error of 2^-23 * 30 in a score moves its weight by
// 4e-6.
constexpr double kBound = 1e-5;

void ExpectNearDouble(const HostOps& ops, const WorldOptions& options) {
  const AttentionWorld world(ops, options);
  const auto out = world.Prefill({});
  double worst = 0;
  for (std::uint32_t row = 0; row < options.own_tokens; row += row < 4 ? 1 : 7) {
    worst = std::max(worst, WorstError(world, out, row));
  }
  std::printf("attention, tier %s: worst error %.3g\n", ops.name, worst);
  EXPECT_LE(worst, kBound);
}

TEST_P(AttentionTest, IsNearDoubleWithBf16Kv) { ExpectNearDouble(*ops_, {}); }
TEST_P(AttentionTest, IsNearDoubleWithFloatKv) {
  ExpectNearDouble(*ops_, {.dtype = KvDtype::kF32});
}
TEST_P(AttentionTest, IsNearDoubleWithHalfSplitRotation) {
  ExpectNearDouble(*ops_, {.layout = RotaryLayout::kHalfSplit});
}
TEST_P(AttentionTest, IsNearDoubleWithPartialRotation) {
  ExpectNearDouble(*ops_, {.rotary_dim = 20});
  ExpectNearDouble(*ops_, {.layout = RotaryLayout::kHalfSplit, .rotary_dim = 6});
}
TEST_P(AttentionTest, IsNearDoubleForHeadShapes) {
  for (const std::uint32_t dim : {16u, 48u, 64u, 80u, 128u, 256u}) {
    ExpectNearDouble(*ops_,
                     {.head_dim = dim, .rotary_dim = 16, .before = {20, 65}, .own_tokens = 30});
  }
  ExpectNearDouble(*ops_, {.q_heads = 9, .kv_heads = 3, .before = {90}, .own_tokens = 40});
  ExpectNearDouble(*ops_, {.q_heads = 4, .kv_heads = 4, .before = {90}, .own_tokens = 40});
  ExpectNearDouble(*ops_, {.q_heads = 16, .kv_heads = 1, .before = {90}, .own_tokens = 40});
}
TEST_P(AttentionTest, IsNearDoubleForASpanAloneAndForAPositionThatJumps) {
  ExpectNearDouble(*ops_, {.before = {}, .own_tokens = 200});
  ExpectNearDouble(*ops_, {.before = {33, 64}, .own_tokens = 20, .hole = 1000});
}
TEST_P(AttentionTest, IsNearDoubleUnderHugeScores) {
  WorldOptions options{.before = {300}, .own_tokens = 70};
  AttentionWorld world(*ops_, options);
  for (float& x : world.q) x *= 40.0f;  // scores up to 1000: all but the largest weights vanish
  const auto out = world.Prefill({});
  for (const std::uint32_t row : {0u, 33u, 69u}) EXPECT_LE(WorstError(world, out, row), 2e-4);
}

CAIRN_FOR_EVERY_TIER(AttentionTest);

TEST(AttentionSupportsTest, RefusesShapesThatKernelsCannotServe) {
  const KvShape good{30, 3, 64, 16, KvDtype::kBf16};
  EXPECT_TRUE(AttentionSupports(good, 9, 64));
  EXPECT_FALSE(AttentionSupports(good, 10, 64));
  EXPECT_FALSE(AttentionSupports(good, 9, 65));
  EXPECT_FALSE(AttentionSupports(good, 9, 66));
  EXPECT_FALSE(AttentionSupports(good, 3 * 17, 64));
  KvShape bad = good;
  bad.head_dim = 40;
  EXPECT_FALSE(AttentionSupports(bad, 9, 32));
  bad = good, bad.block_tokens = 24;
  EXPECT_FALSE(AttentionSupports(bad, 9, 32));
  bad = good, bad.kv_heads = 0;
  EXPECT_FALSE(AttentionSupports(bad, 9, 32));
}

}  // namespace
}  // namespace cairn::host
