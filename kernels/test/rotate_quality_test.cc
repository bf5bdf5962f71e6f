#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/attention/rotate_pair.h"
#include "kernels/reference/rotate_ref.h"
#include "kernels/sk/emu/random.h"
#include "kernels/sk/number_soft.h"
#include "kernels/test/attention_world.h"
#include "kernels/test/harness.h"
#include "kernels/test/random_matrix.h"

// How good rotated keys are: against double, and against the usual rotation by one row of a table.

namespace cairn::test {
namespace {

using kernels::RotatePair;
using kernels::Turn;
using reference::Rotary;

// Row p of the fp32 table that is made in double.
std::vector<Turn> TurnsAt(const Rotary& rotary, std::uint32_t position) {
  std::vector<Turn> turns(rotary.rotary_dim / 2);
  for (std::uint32_t i = 0; i < turns.size(); ++i) {
    const double angle = reference::Angle(rotary, position, i);
    turns[i] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  }
  return turns;
}

// `values` turned by each of `rows`, in fp32, then rounded once to bf16.
std::vector<double> Turned(const Rotary& rotary, const std::vector<float>& values,
                           const std::vector<std::vector<Turn>>& rows) {
  std::vector<double> turned(values.begin(), values.end());
  const std::uint32_t pairs = rotary.rotary_dim / 2;
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const std::uint32_t x_at = rotary.is_adjacent ? 2 * i : i;
    const std::uint32_t y_at = rotary.is_adjacent ? 2 * i + 1 : i + pairs;
    float x = values[x_at], y = values[y_at];
    for (const std::vector<Turn>& row : rows) RotatePair(x, y, row[i]);
    turned[x_at] = sk::soft::FromBf16(sk::soft::RoundBf16(x));
    turned[y_at] = sk::soft::FromBf16(sk::soft::RoundBf16(y));
  }
  return turned;
}

SK_TEST(APairIsTurnedByTwoProductsAndTwoFusedOnes) {
  sk::emu::Random random(31);
  const auto draw = [&] { return RandomUnit(random); };
  for (int i = 0; i < 1000; ++i) {
    const float x = draw(), y = draw(), c = draw(), s = draw();
    float turned_x = x, turned_y = y;
    RotatePair(turned_x, turned_y, {c, s});
    SK_EXPECT_EQ(turned_x, std::fma(x, c, -(y * s)));
    SK_EXPECT_EQ(turned_y, std::fma(y, c, x * s));
  }
}

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// bf16 values, near normal (a sum of uniform ones); the slow half of the pairs times `slow`.
std::vector<float> RandomVector(const Rotary& rotary, sk::emu::Random& random, float slow) {
  std::vector<float> values(rotary.head_dim);
  for (std::uint32_t i = 0; i < rotary.head_dim; ++i) {
    float sum = 0;
    for (int k = 0; k < 6; ++k) sum += RandomUnit(random);
    const std::uint32_t pair = rotary.is_adjacent ? i / 2 : i % (rotary.rotary_dim / 2);
    const float factor = pair >= rotary.rotary_dim / 4 ? slow : 1.0f;
    values[i] = sk::soft::FromBf16(sk::soft::RoundBf16(sum * factor));
  }
  return values;
}

SK_TEST(TheScratchIsTwoTurnsAndOneRounding) {
  // So many values that a last bit in fp32 shows in bf16: one in 2^15 or so.
  constexpr std::uint32_t kDim = 256, kTokens = 700, kPosition = 1300;
  for (const kernels::RotaryPairs pairs :
       {kernels::RotaryPairs::kHalfSplit, kernels::RotaryPairs::kAdjacent}) {
    World world({kDim, kDim, 64, 1, 1, pairs}, 21);
    world.AddSegment(kTokens, kPosition);
    const Rotary rotary{kDim, kDim, pairs == kernels::RotaryPairs::kAdjacent, 10000.0};
    const std::vector<std::uint16_t> scratch = RunRotateKeys(world, RunSettings().first_seed);
    for (std::uint32_t token = 0; token < kTokens; ++token) {
      const std::uint32_t tile = token / 64, slot = token % 64;
      std::vector<float> key(kDim);
      for (std::uint32_t i = 0; i < kDim; ++i) {
        key[i] = sk::soft::FromBf16(world.pool[world.At(tile, slot, false, 0) + i]);
      }
      const std::vector<double> expected =
          Turned(rotary, key, {TurnsAt(rotary, slot), TurnsAt(rotary, world.tiles[tile].position)});
      for (std::uint32_t i = 0; i < kDim; ++i) {
        const float got = sk::soft::FromBf16(scratch[token * kDim + i]);
        SK_EXPECT_EQ(static_cast<double>(got), expected[i]);
      }
    }
  }
}

// The root mean square of scores' errors: keys turned in two steps, and in one.
struct Errors {
  double two_steps = 0, one_step = 0;
};
Errors ScoreErrors(const Rotary& rotary, std::uint32_t positions, float slow, std::uint64_t seed) {
  sk::emu::Random random(seed);
  Errors errors;
  constexpr int kScores = 3000;
  for (int i = 0; i < kScores; ++i) {
    const std::vector<float> q = RandomVector(rotary, random, slow);
    const std::vector<float> k = RandomVector(rotary, random, slow);
    const std::uint32_t t = random.Below(positions), p = random.Below(t + 1), slot = p % 64;
    const double exact =
        Dot(reference::Rotated(rotary, std::vector<double>(q.begin(), q.end()), t),
            reference::Rotated(rotary, std::vector<double>(k.begin(), k.end()), p));
    const std::vector<double> query = Turned(rotary, q, {TurnsAt(rotary, t)});
    const double two =
        Dot(query, Turned(rotary, k, {TurnsAt(rotary, slot), TurnsAt(rotary, p - slot)})) - exact;
    const double one = Dot(query, Turned(rotary, k, {TurnsAt(rotary, p)})) - exact;
    errors.two_steps += two * two / kScores;
    errors.one_step += one * one / kScores;
  }
  return {std::sqrt(errors.two_steps), std::sqrt(errors.one_step)};
}

SK_TEST(ScoresAreAsGoodAsAbsoluteRotations) {
  struct Case {
    Rotary rotary;
    std::uint32_t positions;
    float slow;
  };
  const Case cases[] = {{{128, 128, false, 5e5}, 8192, 1},
                        {{128, 128, true, 5e5}, 131072, 1},
                        {{128, 128, false, 1e6}, 1u << 20, 1},
                        {{128, 64, false, 1e4}, 8192, 16},
                        {{64, 64, false, 1e4}, 2048, 64}};
  for (const Case& c : cases) {
    const Errors errors = ScoreErrors(c.rotary, c.positions, c.slow, RunSettings().first_seed);
    if (RunSettings().is_verbose) {
      Print("rms score error " + std::to_string(errors.two_steps / std::sqrt(c.rotary.head_dim)) +
            ", absolute rotation's " +
            std::to_string(errors.one_step / std::sqrt(c.rotary.head_dim)));
    }
    SK_EXPECT(errors.one_step > 0);
    SK_EXPECT(errors.two_steps <= 1.05 * errors.one_step);
  }
}

SK_TEST(TheTableIsOffByHalfAPlace) {
  const Rotary rotary{128, 128, false, 1e6};
  const std::vector<float> first = reference::RotaryTable(rotary, 130);
  double most = 0, most_of_two = 0;
  for (std::uint32_t p = 1; p < 1u << 20; p = p * 3 / 2 + 7) {
    const std::vector<Turn> turns = TurnsAt(rotary, p);
    const std::vector<Turn> low = TurnsAt(rotary, p % 64), high = TurnsAt(rotary, p - p % 64);
    for (std::uint32_t i = 0; i < turns.size(); ++i) {
      const long double angle = p * powl(1e6L, -2.0L * i / 128);
      const long double cosine = cosl(angle), sine = sinl(angle);
      const auto error = [&](float c, float s) {
        return static_cast<double>(fmaxl(fabsl(c - cosine), fabsl(s - sine)));
      };
      most = std::fmax(most, error(turns[i].cosine, turns[i].sine));
      float x = low[i].cosine, y = low[i].sine;
      RotatePair(x, y, high[i]);
      most_of_two = std::fmax(most_of_two, error(x, y));
      if (p < 130) SK_EXPECT_EQ(first[(p * 64 + i) * 2 + 1], turns[i].sine);
    }
  }
  SK_EXPECT(most <= 6e-8);
  SK_EXPECT(most_of_two <= 1.6e-7);
  if (RunSettings().is_verbose) {
    Print("table error " + std::to_string(most * 1e9) + "e-9, of two turns " +
          std::to_string(most_of_two * 1e9) + "e-9");
  }
}

}  // namespace
}  // namespace cairn::test
