#ifndef CAIRN_TESTS_UNIT_KERNELS_HOST_TIER_TEST_H_
#define CAIRN_TESTS_UNIT_KERNELS_HOST_TIER_TEST_H_

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/host/host_ops.h"

namespace cairn::host {

// Tests that run once for every tier built in; a tier that this CPU lacks is skipped, and says so.
class TierTest : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    ops_ = SelectHostOps(GetParam());
    if (ops_ == nullptr) GTEST_SKIP() << "this CPU does not run tier " << GetParam();
  }
  // The plain tier has no fused multiply-add: two roundings.
  bool fused() const { return GetParam() != "plain"; }
  const HostOps* ops_ = nullptr;
};

inline std::string TierName(const testing::TestParamInfo<std::string_view>& param) {
  return std::string(param.param);
}

#define CAIRN_FOR_EVERY_TIER(suite) \
  INSTANTIATE_TEST_SUITE_P(Tier, suite, testing::ValuesIn(HostOpsNames()), TierName)

inline std::vector<float> RandomFloats(std::size_t count, std::uint32_t seed, float spread = 1.0f) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  std::vector<float> out(count);
  for (float& x : out) x = normal(rng);
  return out;
}

inline std::uint32_t BitsOf(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float FloatOf(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Bit for bit; says where they part.
inline testing::AssertionResult SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return testing::AssertionFailure() << a.size() << " != " << b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (BitsOf(a[i]) != BitsOf(b[i])) {
      return testing::AssertionFailure() << "at " << i << ": " << a[i] << " and " << b[i];
    }
  }
  return testing::AssertionSuccess();
}

// The reference rounding to bf16, written over doubles' neighbours in float.
inline float RoundedToBf16(float x) {
  if (x != x) return x;
  const std::uint32_t bits = BitsOf(x);
  const std::uint32_t below = bits & 0xffff0000u;
  const std::uint32_t rest = bits & 0xffffu;
  const bool up = rest > 0x8000u || (rest == 0x8000u && (bits & 0x10000u) != 0);
  return FloatOf(up ? below + 0x10000u : below);
}

// A random matrix in a GGUF type, as bytes of a file.
struct TestMatrix {
  std::vector<unsigned char> bytes;
  MatrixSource source;
};

inline std::uint16_t HalfBits(float x) {  // normal halves only: cuts the fraction
  const std::uint32_t bits = BitsOf(x);
  return static_cast<std::uint16_t>(((bits >> 16) & 0x8000) |
                                    ((((bits >> 23) & 0xff) - 112) << 10) | ((bits >> 13) & 0x3ff));
}

inline TestMatrix RandomMatrix(WeightType type, std::uint32_t n, std::uint32_t k,
                               std::uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> scale(0.001f, 0.05f);
  TestMatrix m;
  m.bytes.resize(n * RowBytes(type, k) + 1);  // from an odd address: files promise nothing
  unsigned char* to = m.bytes.data() + 1;
  m.source = {type, n, k, to};
  const auto put16 = [&to](std::uint16_t v) { std::memcpy(to, &v, 2), to += 2; };
  for (std::size_t i = 0; i < static_cast<std::size_t>(n) * k; i += IsQuantised(type) ? 32 : 1) {
    const float x = scale(rng) * ((rng() & 1) != 0 ? 1.0f : -1.0f);
    switch (type) {
      case WeightType::kF32:
        std::memcpy(to, &x, 4), to += 4;
        break;
      case WeightType::kF16:
        put16(HalfBits(x));
        break;
      case WeightType::kBf16:
        put16(static_cast<std::uint16_t>(BitsOf(x) >> 16));
        break;
      case WeightType::kQ8_0:
        put16(HalfBits(x));
        for (int j = 0; j < 32; ++j) *to++ = static_cast<unsigned char>(rng());
        break;
      case WeightType::kQ4_0:
      case WeightType::kQ4_1:
        put16(HalfBits(x));
        if (type == WeightType::kQ4_1) put16(HalfBits(scale(rng) * -8.0f));
        for (int j = 0; j < 16; ++j) *to++ = static_cast<unsigned char>(rng());
        break;
    }
  }
  return m;
}

struct Packed {
  std::vector<std::byte> bytes;
  PackedMatrix matrix;
};

inline Packed Pack(const MatrixSource& source) {
  Packed p;
  p.bytes.resize(PackedBytes(source));
  PackPanels(source, 0, PanelCount(source.n), p.bytes.data());
  p.matrix = {source.type, source.n, source.k, p.bytes.data()};
  return p;
}

constexpr WeightType kAllTypes[] = {WeightType::kF32,  WeightType::kF16,  WeightType::kBf16,
                                    WeightType::kQ8_0, WeightType::kQ4_0, WeightType::kQ4_1};

}  // namespace cairn::host
#endif  // CAIRN_TESTS_UNIT_KERNELS_HOST_TIER_TEST_H_
