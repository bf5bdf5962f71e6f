#include <algorithm>
#include <cmath>

#include "kernels/linear/packed.h"
#include "kernels/linear/packed_tiles.h"
#include "kernels/reference/linear_ref.h"
#include "kernels/test/device_memory.h"
#include "kernels/test/random_matrix.h"

namespace cairn::test {
namespace {

using kernels::LinearOutput;
using kernels::LinearParams;
using kernels::PackedLinearParams;
using kernels::PackParams;

constexpr std::uint16_t kNan = 0x7fff;
constexpr float kGuard = -7.0f;

struct Case {
  std::uint32_t n, k, rows, rows_max, sm_count;
};

// Few rows (tiles of 8, 16, 32, 64), many (128, 192); one split and several; ragged n, k and rows;
// blocks that do several items, and more steps than there are stages.
constexpr Case kCases[] = {{8, 16, 1, 1, 132},    {130, 80, 3, 8, 1},     {96, 272, 16, 16, 1},
                           {33, 400, 17, 32, 1},  {200, 528, 40, 64, 1},  {136, 272, 100, 128, 1},
                           {72, 400, 70, 130, 1}, {136, 64, 193, 193, 1}, {132, 272, 130, 400, 2}};

enum class Way { kPacked, kSimple, kMma };

struct Run {
  Matrix x, w;
  Case shape;
  LinearOutput output = LinearOutput::kF32;
  Way way = Way::kPacked;
  std::uint64_t seed = 1;
};

Run MakeRun(const Case& shape, std::uint64_t seed) {
  return {RandomMatrix(shape.rows, shape.k, seed), RandomMatrix(shape.n, shape.k, seed + 77),
          shape};
}

// A product's buffers on a device: x has NaN in the rows behind the counted ones, y a guard behind
// its rows, and partial sums begin as NaN.
class Product {
 public:
  Product(const Run& run, std::vector<float> before) : run_(run), device_(run.seed) {
    const Case& c = run.shape;
    std::vector<std::uint16_t> x = run.x.bits;
    x.resize(std::size_t{c.rows_max + 2} * c.k, kNan);
    values_ = std::size_t{c.rows} * c.n;
    const std::size_t room = std::size_t{c.rows_max + 2} * c.n;
    before.resize(room, kGuard);
    std::vector<std::uint16_t> halves(room);
    for (std::size_t i = 0; i < room; ++i) halves[i] = sk::soft::RoundBf16(before[i]);
    is_bf16_ = run.output == LinearOutput::kBf16;
    x_ = device_.Make(x);
    w_ = device_.Make(run.w.bits);
    y_ = is_bf16_ ? device_.Make(halves) : device_.Make(before);
    count_ = device_.Make(std::vector<std::uint32_t>{c.rows});
    const std::size_t partial_bytes = kernels::LinearPartialsBytes(c.n, c.k, c.rows_max);
    partials_ = device_.Make(std::vector<float>(partial_bytes / 4, std::nanf("")));
    packed_ =
        device_.Make(std::vector<std::uint16_t>(kernels::PackedWeightsBytes(c.n, c.k) / 2, kNan));
    const PackParams pack{w_.as<std::uint16_t>(), packed_.as<std::uint16_t>(), c.n, c.k};
    SK_EXPECT_EQ(kernels::PackWeights(device_.stream(), pack).message(), "");
    params_.x = x_.as<std::uint16_t>();
    params_.packed = packed_.as<std::uint16_t>();
    params_.y = y_.bytes();
    params_.n = c.n;
    params_.k = c.k;
    params_.output = run.output;
    params_.row_count = count_.as<std::uint32_t>();
    params_.rows_max = c.rows_max;
    params_.partials = partial_bytes == 0 ? nullptr : partials_.as<float>();
    params_.sm_count = c.sm_count;
  }
  rt::Stream& stream() { return device_.stream(); }
  TestDevice& device() { return device_; }
  const rt::Buffer& count() const { return count_; }

  void Multiply() {
    if (run_.way == Way::kPacked) {
      SK_EXPECT_EQ(kernels::MultiplyPacked(stream(), params_).message(), "");
      return;
    }
    LinearParams params;
    params.x = params_.x;
    params.w = w_.as<std::uint16_t>();
    params.y = params_.y;
    params.n = params_.n;
    params.k = params_.k;
    params.output = params_.output;
    params.row_count = params_.row_count;
    params.rows_max = params_.rows_max;
    params.partials = run_.way == Way::kMma ? params_.partials : nullptr;
    SK_EXPECT_EQ((run_.way == Way::kMma ? kernels::Multiply(stream(), params)
                                        : kernels::MultiplyPackedSimply(stream(), params))
                     .message(),
                 "");
  }

  // Of the first `rows` rows; what is behind them must be as it was.
  std::vector<float> ReadRows(std::uint32_t rows) {
    std::vector<float> y;
    if (is_bf16_) {
      for (const std::uint16_t bits : device_.Read<std::uint16_t>(y_)) {
        y.push_back(sk::soft::FromBf16(bits));
      }
    } else {
      y = device_.Read<float>(y_);
    }
    for (std::size_t i = std::size_t{rows} * params_.n; i < y.size(); ++i) {
      SK_EXPECT_EQ(y[i], kGuard);
    }
    y.resize(std::size_t{rows} * params_.n);
    return y;
  }

 private:
  const Run& run_;
  TestDevice device_;
  rt::Buffer x_, w_, packed_, y_, count_, partials_;
  PackedLinearParams params_;
  std::size_t values_ = 0;
  bool is_bf16_ = false;
};

std::vector<float> YOf(const Run& run, std::vector<float> before = {}) {
  Product product(run, std::move(before));
  product.Multiply();
  return product.ReadRows(run.shape.rows);
}

std::vector<float> SimpleYOf(Run run) {
  run.way = Way::kSimple;
  return YOf(run);
}

std::vector<double> Widened(const Matrix& matrix) {
  std::vector<double> values;
  for (const std::uint16_t bits : matrix.bits) values.push_back(sk::soft::FromBf16(bits));
  return values;
}

bool AreBitsEqual(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// ---- W, packed ----------------------------------------------------------------------------------

SK_TEST(PackedTilesHoldEveryWeightWhereWgmmaLooks) {
  struct Shape {
    std::uint32_t n, k;
  };
  for (const Shape& shape : {Shape{1, 16}, Shape{128, 64}, Shape{130, 80}, Shape{300, 144}}) {
    const Matrix w = RandomMatrix(shape.n, shape.k, shape.n);
    // Zeros, but where the 16 bytes of row r and k / 8 = c of a tile are: those of r and c ^ r % 8.
    const std::uint32_t across = (shape.n + 127) / 128, deep = (shape.k + 63) / 64;
    std::vector<std::uint16_t> expected(std::size_t{across} * deep * 128 * 64);
    SK_EXPECT_EQ(kernels::PackedWeightsBytes(shape.n, shape.k), expected.size() * 2);
    for (std::uint32_t i = 0; i < shape.n; ++i) {
      for (std::uint32_t k = 0; k < shape.k; ++k) {
        const std::uint32_t tile = i / 128 * deep + k / 64;
        const std::uint32_t place = (k % 64 / 8 ^ i % 8) * 8 + k % 8;
        expected[(tile * 128 + i % 128) * 64 + place] = w.at(i, k);
      }
    }
    for (const bool is_simple : {false, true}) {
      TestDevice device(shape.k);
      rt::Buffer from = device.Make(w.bits);
      std::vector<std::uint16_t> guarded(expected.size() + 64, kNan);
      rt::Buffer to = device.Make(guarded);
      const PackParams params{from.as<std::uint16_t>(), to.as<std::uint16_t>(), shape.n, shape.k};
      SK_EXPECT_EQ((is_simple ? kernels::PackWeightsSimply(device.stream(), params)
                              : kernels::PackWeights(device.stream(), params))
                       .message(),
                   "");
      std::copy(expected.begin(), expected.end(), guarded.begin());
      SK_EXPECT(device.Read<std::uint16_t>(to) == guarded);
    }
  }
}

// ---- Products -----------------------------------------------------------------------------------

void ExpectProductInDouble(const Run& run, const std::vector<float>& y) {
  const std::uint32_t k = run.shape.k;
  const reference::Product expected = reference::Linear(Widened(run.x), Widened(run.w), k);
  SK_EXPECT_EQ(y.size(), expected.values.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    // Each of k additions rounds once.
    SK_EXPECT(std::fabs(y[i] - expected.values[i]) <= k * 0x1p-24 * expected.magnitudes[i]);
  }
}

SK_TEST(WgmmaProductsAreThoseInDouble) {
  for (const Case& shape : kCases) {
    const Run run = MakeRun(shape, 3);
    const std::vector<float> simple = SimpleYOf(run);
    ExpectProductInDouble(run, simple);
    SK_EXPECT(AreBitsEqual(YOf(run), simple));
  }
}

SK_TEST(PackedProductsHaveTheSimpleKernelsBits) {
  for (const Case& shape : kCases) {
    Run run = MakeRun(shape, 5);
    const std::vector<float> simple = SimpleYOf(run);
    for (const std::uint64_t seed : Seeds(2)) {
      run.seed = seed;
      SK_EXPECT(AreBitsEqual(YOf(run), simple));
    }
  }
}

SK_TEST(ARowsWgmmaBitsDependOnNeitherNumberNorPlaceNorGrid) {
  const Case all_rows = {72, 400, 70, 130, 1};
  SK_EXPECT_EQ(kernels::SplitsOf(all_rows.n, all_rows.k).count, 3u);
  const Run all = MakeRun(all_rows, 9);
  const std::vector<float> expected = YOf(all);
  for (const std::uint32_t rows_max : {1u, 8u, 9u, 17u, 33u, 65u, 129u}) {
    // Rows 69, 68, ... of before, in a tile of another size, by another grid.
    Run few = all;
    few.shape.rows_max = rows_max;
    few.shape.rows = rows_max < 20 ? rows_max : 20;
    few.shape.sm_count = 1 + rows_max % 3;
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

SK_TEST(WgmmaProductsAreNotThoseOfMma) {
  Run run = MakeRun({136, 528, 20, 40, 132}, 6);
  const std::vector<float> packed = YOf(run);
  run.way = Way::kMma;
  const std::vector<float> mma = YOf(run);
  ExpectProductInDouble(run, mma);
  if (AllSites().empty()) return;  // a GPU, which may sum both alike: mma_equal looks
  std::size_t differ = 0;
  for (std::size_t i = 0; i < mma.size(); ++i) differ += packed[i] != mma[i] ? 1 : 0;
  SK_EXPECT(differ > mma.size() / 4);
}

SK_TEST(SumsOfNegativeZerosAreThoseOfTheSimpleKernel) {
  // Zeros times negative weights are -0, and stay so until a zero of k's filling is added.
  for (const std::uint32_t k : {64u, 80u}) {
    Run run = MakeRun({24, k, 3, 70, 1}, 8);
    for (std::uint16_t& bits : run.x.bits) bits = 0;
    for (std::uint16_t& bits : run.w.bits) bits |= 0x8000;
    const std::vector<float> simple = SimpleYOf(run);
    SK_EXPECT(AreBitsEqual(YOf(run), simple));
    run.shape.rows_max = 4;
    SK_EXPECT(AreBitsEqual(YOf(run), simple));
  }
}

SK_TEST(WgmmaProductsComeOutAsAsked) {
  for (const Case& shape :
       {Case{33, 272, 5, 16, 1}, Case{34, 272, 66, 66, 1}, Case{33, 64, 5, 66, 1},
        Case{34, 272, 5, 16, 1}, Case{34, 64, 5, 16, 1}}) {
    Run run = MakeRun(shape, 4);
    const std::vector<float> exact = YOf(run);
    for (const Way way : {Way::kPacked, Way::kSimple}) {
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
}

SK_TEST(OneGraphDoesAsManyRowsAsThereAre) {
  for (const std::uint32_t rows_max : {12u, 70u}) {
    const Run run = MakeRun({40, 272, rows_max, rows_max, 2}, 11);
    const std::vector<float> all = YOf(run);
    Product product(run, {});
    SK_EXPECT_EQ(product.stream().BeginCapture().message(), "");
    product.Multiply();
    rt::Graph graph = std::move(*product.stream().EndCapture());
    for (const std::uint32_t rows : {0u, 3u, rows_max + 5}) {  // more than the grid is for: all
      rt::Buffer count = product.device().Make(std::vector<std::uint32_t>{rows});
      SK_EXPECT_EQ(product.stream().CopyAsync(product.count().bytes(), count.bytes(), 4).message(),
                   "");
      SK_EXPECT_EQ(product.stream().Launch(graph).message(), "");
      const std::uint32_t done = std::min(rows, rows_max);
      const std::vector<float> wanted(all.begin(), all.begin() + std::size_t{done} * 40);
      SK_EXPECT(AreBitsEqual(product.ReadRows(done), wanted));
    }
  }
}

SK_TEST(NoRowsAreNoWgmmaProducts) {
  for (const Way way : {Way::kPacked, Way::kSimple}) {
    for (const std::uint32_t rows_max : {1u, 64u, 200u}) {
      Run run = MakeRun({16, 272, 0, rows_max, 132}, 1);
      run.way = way;
      YOf(run);
    }
  }
}

// ---- The host's part ----------------------------------------------------------------------------

SK_TEST(TilesAreChosenByRowsAndRounds) {
  PackedLinearParams params;
  params.n = 4096;
  params.k = 4096;
  struct Choice {
    std::uint32_t rows_max, sm_count, tile;
  };
  // 4096 x 512 rows: 128 tiles of 128 rows are one round of 132 SMs; 96 of 192 rows are, too, and
  // are longer. 768 rows: two rounds of 128, one of 192.
  for (const Choice& choice :
       {Choice{1, 132, 8}, Choice{8, 132, 8}, Choice{9, 132, 16}, Choice{32, 132, 32},
        Choice{33, 132, 64}, Choice{64, 132, 64}, Choice{65, 132, 128}, Choice{128, 132, 128},
        Choice{512, 132, 128}, Choice{768, 132, 192}, Choice{512, 96, 192}}) {
    params.rows_max = choice.rows_max;
    params.sm_count = choice.sm_count;
    SK_EXPECT_EQ(kernels::PackedTileRows(params), choice.tile);
  }
  // The kernel of few rows keeps partial sums exactly where the host makes room for them.
  for (const std::uint32_t rows_max : {1u, 64u}) {
    SK_EXPECT_EQ(kernels::LinearPartialsBytes(4096, 4096, rows_max),
                 std::size_t{kernels::SplitsOf(4096, 4096).count} * rows_max * 4096 * 4);
  }
  SK_EXPECT_EQ(kernels::LinearPartialsBytes(4096, 4096, 65), 0u);
}

SK_TEST(PackedSaysWhichParameterIsWrong) {
  alignas(16) std::uint16_t values[16] = {};
  PackParams pack;
  pack.w = values;
  pack.n = 8;
  pack.k = 16;
  SK_EXPECT_CONTAINS(kernels::Validate(pack), "w or packed is null");
  pack.packed = values + 1;
  SK_EXPECT_CONTAINS(kernels::Validate(pack), "16-byte aligned");
  pack.packed = values;
  SK_EXPECT_EQ(kernels::Validate(pack), "");
  pack.k = 8;
  SK_EXPECT_CONTAINS(kernels::Validate(pack), "k is 8");
  pack.k = 16;
  pack.n = 0;
  SK_EXPECT_CONTAINS(kernels::Validate(pack), "n is 0");

  PackedLinearParams params;
  params.sm_count = 0;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "sm_count is 0");
  params.sm_count = 132;
  params.k = 24;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "k is 24");
  params.k = 512;
  params.n = 8;
  params.rows_max = 4;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
  const std::uint32_t count = 1;
  params.x = values;
  params.packed = values + 1;
  params.y = values;
  params.row_count = &count;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "16-byte aligned");
  params.packed = values;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "partials is null");
  params.rows_max = 65;
  SK_EXPECT_EQ(kernels::Validate(params), "");
}

}  // namespace
}  // namespace cairn::test
