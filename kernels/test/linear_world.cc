#include "kernels/test/linear_world.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/reference/linear_ref.h"

namespace cairn::test {
namespace {

using kernels::LinearOutput;

constexpr std::uint16_t kNan = 0x7fff;
constexpr float kGuard = -7.0f;

std::vector<double> Widened(const Matrix& matrix) {
  std::vector<double> values;
  for (const std::uint16_t bits : matrix.bits) values.push_back(sk::soft::FromBf16(bits));
  return values;
}

// The last `count` rows of a matrix, the last first.
template <class T>
std::vector<T> LastRows(const std::vector<T>& values, std::size_t width, std::size_t count) {
  std::vector<T> last;
  for (auto end = values.end(); last.size() < count * width;) {
    const auto begin = end - static_cast<std::ptrdiff_t>(width);
    last.insert(last.end(), begin, end);
    end = begin;
  }
  return last;
}

}  // namespace

LinearRun MakeRun(LinearWay way, const LinearCase& shape, std::uint64_t seed) {
  return {RandomMatrix(shape.rows, shape.k, seed), RandomMatrix(shape.n, shape.k, seed + 77), shape,
          way};
}

LinearProduct::LinearProduct(const LinearRun& run, std::vector<float> before)
    : run_(run), device_(run.seed) {
  const LinearCase& c = run.shape;
  std::vector<std::uint16_t> x = run.x.bits;
  x.resize(std::size_t{c.rows_max + 2} * c.k, kNan);
  before.resize(std::size_t{c.rows_max + 2} * c.n, kGuard);
  std::vector<std::uint16_t> halves(before.size());
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = sk::soft::RoundBf16(before[i]);
  x_ = device_.Make(x);
  w_ = device_.Make(run.w.bits);
  y_ = run.output == LinearOutput::kBf16 ? device_.Make(halves) : device_.Make(before);
  count_ = device_.Make(std::vector<std::uint32_t>{c.rows});
  const std::size_t partial_bytes = kernels::LinearPartialsBytes(c.n, c.k, c.rows_max);
  partials_ = device_.Make(std::vector<float>(partial_bytes / 4, std::nanf("")));
  params_.x = x_.as<std::uint16_t>();
  params_.y = y_.bytes();
  params_.n = c.n;
  params_.k = c.k;
  params_.output = run.output;
  params_.row_count = count_.as<std::uint32_t>();
  params_.rows_max = c.rows_max;
  params_.partials = partial_bytes == 0 ? nullptr : partials_.as<float>();
  params_.sm_count = c.sm_count;
  if (run.way != LinearWay::kPacked) return;
  packed_ =
      device_.Make(std::vector<std::uint16_t>(kernels::PackedWeightsBytes(c.n, c.k) / 2, kNan));
  params_.packed = packed_.as<std::uint16_t>();
  const kernels::PackParams pack{w_.as<std::uint16_t>(), packed_.as<std::uint16_t>(), c.n, c.k};
  SK_EXPECT_EQ(kernels::PackWeights(stream(), pack).message(), "");
}

void LinearProduct::Multiply() {
  if (run_.way == LinearWay::kPacked) {
    SK_EXPECT_EQ(kernels::MultiplyPacked(stream(), params_).message(), "");
    return;
  }
  const bool is_packed_simple = run_.way == LinearWay::kPackedSimple;
  kernels::LinearParams params;
  params.x = params_.x;
  params.w = w_.as<std::uint16_t>();
  params.y = params_.y;
  params.n = params_.n;
  params.k = params_.k;
  params.output = params_.output;
  params.row_count = params_.row_count;
  params.rows_max = params_.rows_max;
  params.partials = is_packed_simple ? nullptr : params_.partials;
  const auto multiply = is_packed_simple                    ? kernels::MultiplyPackedSimply
                        : run_.way == LinearWay::kMmaSimple ? kernels::MultiplySimply
                                                            : kernels::Multiply;
  SK_EXPECT_EQ(multiply(stream(), params).message(), "");
}

std::vector<float> LinearProduct::ReadRows(std::uint32_t rows) {
  std::vector<float> y;
  if (run_.output == LinearOutput::kBf16) {
    for (const std::uint16_t bits : device_.Read<std::uint16_t>(y_)) {
      y.push_back(sk::soft::FromBf16(bits));
    }
  } else {
    y = device_.Read<float>(y_);
  }
  const std::size_t values = std::size_t{rows} * params_.n;
  for (std::size_t i = values; i < y.size(); ++i) SK_EXPECT_EQ(y[i], kGuard);
  y.resize(values);
  return y;
}

std::vector<float> YOf(const LinearRun& run, std::vector<float> before) {
  LinearProduct product(run, std::move(before));
  product.Multiply();
  return product.ReadRows(run.shape.rows);
}

std::vector<float> YBy(LinearWay way, LinearRun run) {
  run.way = way;
  return YOf(run);
}

void ExpectProductInDouble(const LinearRun& run, const std::vector<float>& y) {
  const std::uint32_t k = run.shape.k;
  const reference::Product expected = reference::Linear(Widened(run.x), Widened(run.w), k);
  SK_EXPECT_EQ(y.size(), expected.values.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    // Each of k additions rounds once.
    SK_EXPECT(std::fabs(y[i] - expected.values[i]) <= k * 0x1p-24 * expected.magnitudes[i]);
  }
}

void ExpectRowsKeepTheirBits(const LinearRun& all, std::initializer_list<std::uint32_t> rows_max) {
  const std::vector<float> y = YOf(all);
  for (const std::uint32_t most : rows_max) {
    LinearRun few = all;
    few.shape.rows_max = most;
    few.shape.rows = std::min(most, 20u);
    few.shape.sm_count = 1 + most % 3;
    few.seed = most;
    few.x.bits = LastRows(all.x.bits, all.shape.k, few.shape.rows);
    SK_EXPECT(AreBitsEqual(YOf(few), LastRows(y, all.shape.n, few.shape.rows)));
  }
}

void ExpectEveryOutput(LinearRun run, std::initializer_list<LinearWay> ways) {
  const std::vector<float> exact = YOf(run);
  for (const LinearWay way : ways) {
    run.way = way;
    run.output = LinearOutput::kBf16;
    std::vector<float> wanted = exact;
    for (float& x : wanted) x = sk::soft::FromBf16(sk::soft::RoundBf16(x));
    SK_EXPECT(AreBitsEqual(YOf(run), wanted));
    run.output = LinearOutput::kAddF32;
    std::vector<float> before(exact.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      before[i] = static_cast<float>(i % 13) - 6.5f;
      wanted[i] = before[i] + exact[i];
    }
    SK_EXPECT(AreBitsEqual(YOf(run, before), wanted));
  }
}

}  // namespace cairn::test
