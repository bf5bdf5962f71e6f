#include "kernels/host/weights.h"

#include "tests/unit/kernels_host/tier_test.h"

namespace cairn::host {
namespace {

// The format's definition, in double, then rounded once.
double Definition(const MatrixSource& m, std::uint32_t row, std::uint32_t i) {
  const auto half = [](const unsigned char* p) {
    const std::uint32_t h = p[0] | (p[1] << 8);
    const int exponent = static_cast<int>((h >> 10) & 31);
    const double fraction = static_cast<double>(h & 0x3ff) / 1024.0;
    const double size =
        exponent == 0 ? fraction * 0x1p-14 : (1.0 + fraction) * __builtin_ldexp(1.0, exponent - 15);
    return (h & 0x8000) != 0 ? -size : size;
  };
  const auto* p = static_cast<const unsigned char*>(m.rows) + row * RowBytes(m.type, m.k);
  const unsigned char* group = p + i / 32 * BytesPer32(m.type);
  const std::uint32_t j = i % 32;
  const auto nibble = [&](int at) { return j < 16 ? group[at + j] & 15 : group[at + j - 16] >> 4; };
  switch (m.type) {
    case WeightType::kF32: {
      float x;
      std::memcpy(&x, p + i * 4, 4);
      return x;
    }
    case WeightType::kF16:
      return half(p + i * 2);
    case WeightType::kBf16:
      return FloatOf(static_cast<std::uint32_t>(p[i * 2] | (p[i * 2 + 1] << 8)) << 16);
    case WeightType::kQ8_0:
      return half(group) * static_cast<signed char>(group[2 + j]);
    case WeightType::kQ4_0:
      return half(group) * (nibble(2) - 8);
    case WeightType::kQ4_1:
      return half(group) * nibble(4) + half(group + 2);
  }
  return 0;
}

TEST(WeightsTest, RowsAreTheFormatsDefinition) {
  for (const WeightType type : kAllTypes) {
    const TestMatrix m = RandomMatrix(type, 7, 96, 1);
    std::vector<float> row(96);
    for (std::uint32_t r = 0; r < 7; ++r) {
      DequantiseRow(m.source, r, row.data());
      for (std::uint32_t i = 0; i < 96; ++i) {
        ASSERT_EQ(row[i], static_cast<float>(Definition(m.source, r, i)))
            << int(type) << " " << r << " " << i;
      }
    }
  }
}

TEST(WeightsTest, EveryHalfIsExact) {
  std::vector<std::uint16_t> halves(0x7c00);
  for (std::size_t h = 0; h < halves.size(); ++h) halves[h] = static_cast<std::uint16_t>(h);
  const MatrixSource m{WeightType::kF16, 1, 0x7c00, halves.data()};
  std::vector<float> row(halves.size());
  DequantiseRow(m, 0, row.data());
  for (std::uint32_t h = 0; h < 0x7c00; ++h) ASSERT_EQ(row[h], Definition(m, 0, h)) << h;
}

// That every weight is kept is gemm_test's to show (IsTheDefinedChainBitForBit).
TEST(WeightsTest, PackingPadsWithZeros) {
  const TestMatrix m = RandomMatrix(WeightType::kF32, 21, 75, 2);
  const Packed packed = Pack(m.source);
  ASSERT_EQ(packed.bytes.size(), 2 * 96 * 16 * 4u);
  const auto* floats = reinterpret_cast<const float*>(packed.bytes.data());
  for (std::uint32_t i = 0; i < 96; ++i) {
    for (std::uint32_t c = 0; c < 32; ++c) {
      const float packed_weight = floats[(c / 16 * 96 + i) * 16 + c % 16];
      ASSERT_EQ(packed_weight == 0.0f, i >= 75 || c >= 21) << i << " " << c;
    }
  }
}

TEST(WeightsTest, RangesOfPanelsAreIndependent) {
  const TestMatrix m = RandomMatrix(WeightType::kQ4_1, 80, 64, 3);
  const Packed whole = Pack(m.source);
  std::vector<std::byte> parts(whole.bytes.size());
  for (std::size_t p = 0; p < 5; ++p) PackPanels(m.source, p, p + 1, parts.data());
  EXPECT_EQ(parts, whole.bytes);
}

}  // namespace
}  // namespace cairn::host
