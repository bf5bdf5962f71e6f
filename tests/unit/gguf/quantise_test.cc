#include "libs/gguf/quantise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "libs/base/bytes.h"
#include "libs/base/rng.h"
#include "libs/gguf/dequantise.h"

namespace cairn {
namespace {

std::vector<float> RandomValues(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> out(count);
  for (float& v : out) v = static_cast<float>(rng.Unit() * 4 - 2);
  return out;
}

std::vector<float> RoundTrip(TensorType type, const std::vector<float>& values) {
  const std::string stored = Quantise(type, values);
  EXPECT_EQ(stored.size(), values.size() / GroupOf(type).values * GroupOf(type).bytes);
  std::vector<float> out(values.size());
  Dequantise(type, AsBytes(stored), absl::MakeSpan(out));
  return out;
}

TEST(QuantiseTest, ErrorIsWithinTheStepOfEachType) {
  const std::vector<float> values = RandomValues(256, 1);
  const struct {
    TensorType type;
    float error_max;
  } cases[] = {{TensorType::kF32, 0},           {TensorType::kF16, 2.0f / 2048},
               {TensorType::kBf16, 2.0f / 256}, {TensorType::kQ8_0, 2.0f / 127},
               {TensorType::kQ4_0, 2.0f / 7},   {TensorType::kQ4_1, 4.0f / 15}};
  for (const auto& c : cases) {
    const std::vector<float> back = RoundTrip(c.type, values);
    float error = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      error = std::max(error, std::abs(back[i] - values[i]));
    }
    EXPECT_LE(error, c.error_max * 0.51f) << NameOf(c.type);
    EXPECT_EQ(error > 0, c.type != TensorType::kF32) << NameOf(c.type);
  }
}

TEST(QuantiseTest, WhatATypeCanHoldComesBackExactly) {
  for (TensorType type : {TensorType::kQ8_0, TensorType::kQ4_0, TensorType::kQ4_1}) {
    const std::vector<float> once = RoundTrip(type, RandomValues(64, 2));
    EXPECT_EQ(RoundTrip(type, once), once) << NameOf(type);
    const std::vector<float> zeros(32, 0.0f);
    EXPECT_EQ(RoundTrip(type, zeros), zeros) << NameOf(type);
  }
}

}  // namespace
}  // namespace cairn
