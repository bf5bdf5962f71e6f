#include "kernels/host/rope_table.h"

#include <cstring>

#include "kernels/host/exact_trig.h"

namespace cairn::host {
namespace {

constexpr std::uint32_t kPositionsMax = 1u << 24;
constexpr std::uint32_t kRotaryDimMax = 1u << 10;

std::uint64_t HashFloat(float value, std::uint64_t hash) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  for (int byte = 0; byte < 4; ++byte) {
    hash = (hash ^ ((bits >> (8 * byte)) & 0xff)) * 0x100000001b3;
  }
  return hash;
}

// Every cos, pair by pair, then every sin.
std::uint64_t HashTable(const RopeView& view) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ static_cast<std::uint64_t>(view.layout);
  for (const std::uint32_t part : {0u, kRopeRunFloats}) {
    for (std::uint32_t j = 0; j < view.rotary_dim / 2; ++j) {
      for (std::uint32_t p = 0; p < view.max_positions; ++p) {
        hash = HashFloat(RopeCos(view, j, p)[part], hash);
      }
    }
  }
  return hash;
}

}  // namespace

bool RopeTable::Valid(const Options& options) {
  if (options.rotary_dim == 0 || options.rotary_dim % 2 != 0) return false;
  if (options.rotary_dim > kRotaryDimMax) return false;
  if (options.max_positions == 0 || options.max_positions > kPositionsMax) return false;
  if (!(options.theta >= 1.0 && options.theta <= 1e15)) return false;
  if (!(options.linear_scale >= 1.0 && options.linear_scale <= 1e6)) return false;
  if (options.frequency_divisors == nullptr) return true;
  for (std::uint32_t j = 0; j < options.rotary_dim / 2; ++j) {
    const float divisor = options.frequency_divisors[j];
    if (!(divisor >= 1.0f && divisor <= 1e6f)) return false;
  }
  return true;
}

RopeTable::RopeTable(const Options& options) {
  const std::uint32_t pairs = options.rotary_dim / 2;
  const std::size_t runs =
      (static_cast<std::size_t>(options.max_positions) + kRopeRun - 1) / kRopeRun;
  values_ = std::make_unique<float[]>(runs * pairs * 2 * kRopeRunFloats);
  view_ = RopeView{.values = values_.get(),
                   .rotary_dim = options.rotary_dim,
                   .max_positions = options.max_positions,
                   .layout = options.layout};
  const exact::Double2 ratio = exact::Root(options.theta, pairs);  // theta^(2/rotary_dim)
  exact::Double2 power{1.0, 0.0};
  for (std::uint32_t j = 0; j < pairs; ++j, power = exact::Mul(power, ratio)) {
    exact::Double2 divisor = exact::Mul(power, {options.linear_scale, 0.0});
    if (options.frequency_divisors != nullptr) {
      divisor = exact::Mul(divisor, {static_cast<double>(options.frequency_divisors[j]), 0.0});
    }
    const exact::Double2 frequency = exact::Div({1.0, 0.0}, divisor);
    for (std::uint32_t p = 0; p < options.max_positions; ++p) {
      const exact::SinCos value =
          exact::SinCosOf(exact::Mul(frequency, {static_cast<double>(p), 0.0}));
      Put(j, p / kRopeRun, p % kRopeRun, value);
      if (p >= kRopeRun && p % kRopeRun < kRopeRunFloats - kRopeRun) {
        Put(j, p / kRopeRun - 1, p % kRopeRun + kRopeRun, value);  // the end of the run before
      }
    }
  }
  hash_ = HashTable(view_);
}

void RopeTable::Put(std::uint32_t pair, std::uint32_t run, std::uint32_t at,
                    const exact::SinCos& value) {
  float* to = values_.get() +
              (static_cast<std::size_t>(run) * (view_.rotary_dim / 2) + pair) * 2 * kRopeRunFloats +
              at;
  to[0] = static_cast<float>(value.cos);
  to[kRopeRunFloats] = static_cast<float>(value.sin);
}

}  // namespace cairn::host
