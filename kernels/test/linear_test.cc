#include "kernels/linear/linear.h"

#include <cmath>

#include "kernels/reference/linear_ref.h"
#include "kernels/test/device_memory.h"
#include "kernels/test/random_matrix.h"

namespace cairn::test {
namespace {

using kernels::LinearOutput;
using kernels::LinearParams;
using kernels::SplitsOf;

constexpr std::uint16_t kNan = 0x7fff;
constexpr float kGuard = -7.0f;

struct Case {
  std::uint32_t n, k, rows, rows_max;
};

// x has NaN in the rows behind the counted ones, and y a guard behind its rows.
struct Run {
  Matrix x, w;
  Case shape;
  LinearOutput output = LinearOutput::kF32;
  bool is_simple = false;
  std::uint64_t seed = 1;
};

std::vector<float> YOf(const Run& run, std::vector<float> before = {}) {
  TestDevice device(run.seed);
  const Case& c = run.shape;
  std::vector<std::uint16_t> x = run.x.bits;
  x.resize(std::size_t{c.rows_max + 2} * c.k, kNan);
  const std::size_t values = std::size_t{c.rows} * c.n, room = values + 2 * c.n;
  before.resize(room, kGuard);
  const bool is_bf16 = run.output == LinearOutput::kBf16;
  std::vector<std::uint16_t> halves(room);
  for (std::size_t i = 0; i < room; ++i) halves[i] = sk::soft::RoundBf16(before[i]);
  rt::Buffer x_buffer = device.Make(x);
  rt::Buffer w_buffer = device.Make(run.w.bits);
  rt::Buffer y_buffer = is_bf16 ? device.Make(halves) : device.Make(before);
  rt::Buffer count = device.Make(std::vector<std::uint32_t>{c.rows});
  const std::size_t partial_bytes = kernels::LinearPartialsBytes(c.n, c.k, c.rows_max);
  rt::Buffer partials = device.Make(std::vector<float>(partial_bytes / 4, std::nanf("")));
  LinearParams params;
  params.x = x_buffer.as<std::uint16_t>();
  params.w = w_buffer.as<std::uint16_t>();
  params.y = y_buffer.bytes();
  params.n = c.n;
  params.k = c.k;
  params.output = run.output;
  params.row_count = count.as<std::uint32_t>();
  params.rows_max = c.rows_max;
  params.partials = partial_bytes == 0 ? nullptr : partials.as<float>();
  const rt::Status status = run.is_simple ? kernels::MultiplySimply(device.stream(), params)
                                          : kernels::Multiply(device.stream(), params);
  SK_EXPECT_EQ(status.message(), "");
  std::vector<float> y;
  if (is_bf16) {
    for (const std::uint16_t bits : device.Read<std::uint16_t>(y_buffer)) {
      y.push_back(sk::soft::FromBf16(bits));
    }
  } else {
    y = device.Read<float>(y_buffer);
  }
  for (std::size_t i = values; i < y.size(); ++i) SK_EXPECT_EQ(y[i], kGuard);
  y.resize(values);
  return y;
}

Run MakeRun(const Case& shape, std::uint64_t seed) {
  return {RandomMatrix(shape.rows, shape.k, seed), RandomMatrix(shape.n, shape.k, seed + 77),
          shape};
}

std::vector<double> Widened(const Matrix& matrix) {
  std::vector<double> values;
  for (const std::uint16_t bits : matrix.bits) values.push_back(sk::soft::FromBf16(bits));
  return values;
}

bool AreBitsEqual(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Of the fast kernel: grids of 16-, 64- and 128-row tiles; one split and several; ragged n and k.
constexpr Case kCases[] = {{8, 16, 1, 1},      {130, 80, 3, 16},   {96, 272, 16, 16},
                           {33, 400, 17, 33},  {128, 256, 64, 64}, {200, 528, 40, 64},
                           {72, 400, 70, 130}, {136, 64, 129, 129}};

SK_TEST(ProductsAreThoseInDouble) {
  for (const Case& shape : kCases) {
    const Run run = MakeRun(shape, 3);
    const reference::Product expected = reference::Linear(Widened(run.x), Widened(run.w), shape.k);
    const std::vector<float> got = YOf(run);
    for (std::size_t i = 0; i < got.size(); ++i) {
      // Each of k additions rounds once.
      SK_EXPECT(std::fabs(got[i] - expected.values[i]) <=
                shape.k * 0x1p-24 * expected.magnitudes[i]);
    }
  }
}

SK_TEST(FastProductsHaveTheSimpleKernelsBits) {
  for (const std::uint64_t seed : Seeds(2)) {
    for (const Case& shape : kCases) {
      Run run = MakeRun(shape, seed);
      run.seed = seed;
      const std::vector<float> fast = YOf(run);
      run.is_simple = true;
      SK_EXPECT(AreBitsEqual(fast, YOf(run)));
    }
  }
}

SK_TEST(ARowsBitsDependOnNeitherNumberNorPlace) {
  const Case all_rows = {72, 400, 70, 130};
  SK_EXPECT(SplitsOf(all_rows.n, all_rows.k).count == 3);
  const Run all = MakeRun(all_rows, 9);
  const std::vector<float> expected = YOf(all);
  for (const std::uint32_t rows_max : {1u, 16u, 17u, 64u, 65u}) {
    // Rows 69, 68, ... of before, in a grid of another size.
    Run few = all;
    few.shape.rows_max = rows_max;
    few.shape.rows = rows_max < 20 ? rows_max : 20;
    few.seed = rows_max;
    std::vector<float> wanted;
    few.x.bits.clear();
    for (std::uint32_t r = 0; r < few.shape.rows; ++r) {
      const std::size_t row = all_rows.rows - 1 - r;
      few.x.bits.insert(few.x.bits.end(), all.x.bits.begin() + row * all_rows.k,
                        all.x.bits.begin() + (row + 1) * all_rows.k);
      wanted.insert(wanted.end(), expected.begin() + row * all_rows.n,
                    expected.begin() + (row + 1) * all_rows.n);
    }
    SK_EXPECT(AreBitsEqual(YOf(few), wanted));
  }
}

SK_TEST(ProductsComeOutAsAsked) {
  for (const Case& shape : {Case{33, 272, 5, 16}, Case{33, 272, 66, 66}, Case{33, 64, 5, 16},
                            Case{34, 272, 5, 16}, Case{34, 272, 66, 66}, Case{34, 64, 5, 16}}) {
    Run run = MakeRun(shape, 4);
    const std::vector<float> exact = YOf(run);
    for (const bool is_simple : {false, true}) {
      run.is_simple = is_simple;
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
}

SK_TEST(NoRowsAreNoProducts) {
  for (const std::uint32_t rows_max : {1u, 64u, 200u}) YOf(MakeRun({16, 272, 0, rows_max}, 1));
}

SK_TEST(SplitsCoverKAndDependOnTheShapeOnly) {
  for (const std::uint32_t n : {8u, 576u, 4096u, 28672u, 128256u}) {
    for (const std::uint32_t k : {16u, 64u, 128u, 272u, 576u, 4096u, 14336u}) {
      const kernels::LinearSplits splits = SplitsOf(n, k);
      SK_EXPECT(splits.count >= 1 && splits.count <= 16);
      SK_EXPECT_EQ(splits.depth % kernels::kLinearStepDepth, 0u);
      SK_EXPECT(splits.count * splits.depth >= k && (splits.count - 1) * splits.depth < k);
      SK_EXPECT_EQ(kernels::LinearPartialsBytes(n, k, 65), 0u);
    }
  }
  SK_EXPECT_EQ(SplitsOf(4096, 4096).count, 8u);
  SK_EXPECT_EQ(SplitsOf(128256, 4096).count, 1u);
}

SK_TEST(LinearSaysWhichParameterIsWrong) {
  LinearParams params;
  params.k = 24;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "k is 24");
  params.k = 512;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "n is 0");
  params.n = 8;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "rows_max is 0");
  params.rows_max = 4;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
  alignas(16) std::uint16_t values[16] = {};
  const std::uint32_t count = 1;
  params.x = values;
  params.w = values + 1;
  params.y = values;
  params.row_count = &count;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "16-byte aligned");
  params.w = values;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "partials is null");
  params.rows_max = 65;
  SK_EXPECT_EQ(kernels::Validate(params), "");
}

}  // namespace
}  // namespace cairn::test
