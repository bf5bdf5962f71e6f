#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "kernels/gpu/mma_equal.h"
#include "kernels/sk/emu/random.h"
#include "kernels/sk/number_soft.h"

namespace cairn::gpu {
namespace {

using sk::emu::Random;

float Even(Random& random) {
  return static_cast<float>(static_cast<std::int32_t>(random.Next() >> 32)) * 0x1p-31f;
}
// A sign, a mantissa of bf16, and 2^least to 2^most.
float OfExponents(Random& random, int least, int most) {
  const float mantissa = 1.0f + static_cast<float>(random.Below(128)) * 0x1p-7f;
  const int exponent = least + static_cast<int>(random.Below(most - least + 1));
  return std::ldexp(random.OneIn(2) ? -mantissa : mantissa, exponent);
}
float Draw(Random& random, EqualNumbers numbers) {
  switch (numbers) {
    case EqualNumbers::kIntegers:
      return static_cast<float>(random.Below(17)) - 8.0f;
    case EqualNumbers::kWide:
      return OfExponents(random, -15, 15);  // products: twice as wide
    case EqualNumbers::kTiny:
      return OfExponents(random, -67, -60);
    case EqualNumbers::kEven:
    case EqualNumbers::kCancelling:
      break;
  }
  return Even(random);
}

// Value `half` + i of a row belongs to value i: A's is the same, B's is the opposite, for some of
// them off by a last place. Then k is shuffled, for A and B alike, so that pairs lie anywhere.
void PairUp(EqualTiles& made, std::uint32_t tile, Random& random) {
  const std::uint32_t k = made.k, half = k / 2;
  std::vector<std::uint32_t> order(k);
  std::iota(order.begin(), order.end(), 0u);
  for (std::uint32_t i = k - 1; i > 0; --i) std::swap(order[i], order[random.Below(i + 1)]);
  const auto rework = [&](std::uint16_t* row, bool is_b) {
    for (std::uint32_t i = 0; i < half; ++i) {
      std::uint16_t other = row[i];
      if (is_b) other = static_cast<std::uint16_t>((other ^ 0x8000) + (random.OneIn(4) ? 1 : 0));
      row[half + i] = other;
    }
    std::vector<std::uint16_t> shuffled(k);
    for (std::uint32_t i = 0; i < k; ++i) shuffled[order[i]] = row[i];
    std::copy(shuffled.begin(), shuffled.end(), row);
  };
  for (std::uint32_t row = 0; row < kEqualRows; ++row) {
    rework(made.a.data() + (std::size_t{tile} * kEqualRows + row) * k, false);
  }
  for (std::uint32_t column = 0; column < made.n; ++column) {
    rework(made.b.data() + (std::size_t{tile} * made.n + column) * k, true);
  }
}

std::string Hex(std::uint32_t bits, int digits) {
  char text[16];
  std::snprintf(text, sizeof(text), "%0*x", digits, bits);
  return text;
}
std::string HexRow(const std::uint16_t* row, std::uint32_t k) {
  std::string text;
  for (std::uint32_t i = 0; i < k; ++i) text += (i == 0 ? "" : " ") + Hex(row[i], 4);
  return text;
}

}  // namespace

std::uint32_t ColumnsOf(EqualVariant variant) {
  return variant == EqualVariant::kN8 ? 8 : variant == EqualVariant::kN256 ? 256 : 64;
}
std::string_view NameOf(EqualVariant variant) {
  switch (variant) {
    case EqualVariant::kN8:
      return "m64n8k16";
    case EqualVariant::kN64:
      return "m64n64k16";
    case EqualVariant::kN64Registers:
      return "m64n64k16, A in registers";
    case EqualVariant::kN256:
      return "m64n256k16";
  }
  return "";
}
std::string_view NameOf(EqualNumbers numbers) {
  switch (numbers) {
    case EqualNumbers::kIntegers:
      return "small integers";
    case EqualNumbers::kEven:
      return "even in (-1, 1)";
    case EqualNumbers::kWide:
      return "wide exponents";
    case EqualNumbers::kCancelling:
      return "cancelling";
    case EqualNumbers::kTiny:
      return "near underflow";
  }
  return "";
}

EqualTiles MakeEqualTiles(EqualNumbers numbers, std::uint32_t k, std::uint32_t n,
                          std::uint32_t tiles, std::uint64_t seed) {
  Random random(seed);
  EqualTiles made{k, n, tiles, {}, {}, {}};
  made.a.resize(std::size_t{tiles} * kEqualRows * k);
  made.b.resize(std::size_t{tiles} * n * k);
  made.start.resize(std::size_t{tiles} * kEqualRows * n);
  for (std::uint16_t& x : made.a) x = sk::soft::RoundBf16(Draw(random, numbers));
  for (std::uint16_t& x : made.b) x = sk::soft::RoundBf16(Draw(random, numbers));
  if (numbers == EqualNumbers::kIntegers || numbers == EqualNumbers::kWide) {
    for (float& x : made.start) {
      x = numbers == EqualNumbers::kWide ? OfExponents(random, -30, 30) + Even(random)
                                         : Draw(random, numbers);
    }
  }
  if (numbers == EqualNumbers::kCancelling) {
    for (std::uint32_t tile = 0; tile < tiles; ++tile) PairUp(made, tile, random);
  }
  return made;
}

EqualCount Compare(std::span<const float> x, std::span<const float> y) {
  EqualCount count;
  count.dots = std::min(x.size(), y.size());
  for (std::uint64_t i = 0; i < count.dots; ++i) {
    if (std::bit_cast<std::uint32_t>(x[i]) == std::bit_cast<std::uint32_t>(y[i])) continue;
    if (count.unequal++ == 0) count.first = i;
    const double scale = std::max(std::fabs(double{x[i]}), std::fabs(double{y[i]}));
    if (!std::isfinite(scale) || scale == 0) continue;
    const double relative = std::fabs(double{x[i]} - double{y[i]}) / scale;
    count.largest_relative = std::max(count.largest_relative, relative);
  }
  return count;
}

std::string DescribeDot(const EqualTiles& tiles, std::uint64_t index, float x, float y) {
  const std::uint64_t values = std::uint64_t{kEqualRows} * tiles.n;
  const std::uint64_t tile = index / values, row = index % values / tiles.n;
  const std::uint64_t column = index % tiles.n;
  std::string text = "tile " + std::to_string(tile) + ", row " + std::to_string(row) + ", column " +
                     std::to_string(column) + ": " + Hex(std::bit_cast<std::uint32_t>(x), 8) +
                     " and " + Hex(std::bit_cast<std::uint32_t>(y), 8) + " from " +
                     Hex(std::bit_cast<std::uint32_t>(tiles.start[index]), 8);
  if (tiles.k > 64) return text;
  const std::uint16_t* a = tiles.a.data() + (tile * kEqualRows + row) * tiles.k;
  const std::uint16_t* b = tiles.b.data() + (tile * tiles.n + column) * tiles.k;
  return text + "; a " + HexRow(a, tiles.k) + "; b " + HexRow(b, tiles.k);
}

}  // namespace cairn::gpu
