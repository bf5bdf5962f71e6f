#include "kernels/linear/packed.h"

#include <algorithm>

#include "kernels/linear/packed_tiles.h"
#include "kernels/test/linear_world.h"

namespace cairn::test {
namespace {

using kernels::PackedLinearParams;
using kernels::PackParams;

constexpr std::uint16_t kNan = 0x7fff;

// Few rows (tiles of 8, 16, 32, 64), many (128, 192); one split and several; ragged n, k and rows;
// blocks that do several items, and more steps than there are stages.
constexpr LinearCase kCases[] = {
    {8, 16, 1, 1, 132},    {130, 80, 3, 8, 1},     {96, 272, 16, 16, 1},
    {33, 400, 17, 32, 1},  {200, 528, 40, 64, 1},  {136, 272, 100, 128, 1},
    {72, 400, 70, 130, 1}, {136, 64, 193, 193, 1}, {132, 272, 130, 400, 2}};

LinearRun PackedRun(const LinearCase& shape, std::uint64_t seed) {
  return MakeRun(LinearWay::kPacked, shape, seed);
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

SK_TEST(WgmmaProductsAreThoseInDouble) {
  for (const LinearCase& shape : kCases) {
    const LinearRun run = PackedRun(shape, 3);
    const std::vector<float> simple = YBy(LinearWay::kPackedSimple, run);
    ExpectProductInDouble(run, simple);
    SK_EXPECT(AreBitsEqual(YOf(run), simple));
  }
}

SK_TEST(PackedProductsHaveTheSimpleKernelsBits) {
  for (const LinearCase& shape : kCases) {
    LinearRun run = PackedRun(shape, 5);
    const std::vector<float> simple = YBy(LinearWay::kPackedSimple, run);
    for (const std::uint64_t seed : Seeds(2)) {
      run.seed = seed;
      SK_EXPECT(AreBitsEqual(YOf(run), simple));
    }
  }
}

SK_TEST(ARowsWgmmaBitsDependOnNeitherNumberNorPlaceNorGrid) {
  const LinearCase all = {72, 400, 70, 130, 1};
  SK_EXPECT_EQ(kernels::SplitsOf(all.n, all.k).count, 3u);
  ExpectRowsKeepTheirBits(PackedRun(all, 9), {1, 8, 9, 17, 33, 65, 129});
}

SK_TEST(WgmmaProductsAreNotThoseOfMma) {
  const LinearRun run = PackedRun({136, 528, 20, 40, 132}, 6);
  const std::vector<float> packed = YOf(run);
  const std::vector<float> mma = YBy(LinearWay::kMma, run);
  ExpectProductInDouble(run, mma);
  if (AllSites().empty()) return;  // a GPU, which may sum both alike: mma_equal looks
  std::size_t differ = 0;
  for (std::size_t i = 0; i < mma.size(); ++i) differ += packed[i] != mma[i] ? 1 : 0;
  SK_EXPECT(differ > mma.size() / 4);
}

SK_TEST(SumsOfNegativeZerosAreThoseOfTheSimpleKernel) {
  // Zeros times negative weights are -0, and stay so until a zero of k's filling is added.
  for (const std::uint32_t k : {64u, 80u}) {
    LinearRun run = PackedRun({24, k, 3, 70, 1}, 8);
    for (std::uint16_t& bits : run.x.bits) bits = 0;
    for (std::uint16_t& bits : run.w.bits) bits |= 0x8000;
    const std::vector<float> simple = YBy(LinearWay::kPackedSimple, run);
    SK_EXPECT(AreBitsEqual(YOf(run), simple));
    run.shape.rows_max = 4;
    SK_EXPECT(AreBitsEqual(YOf(run), simple));
  }
}

SK_TEST(WgmmaProductsComeOutAsAsked) {
  for (const LinearCase& shape :
       {LinearCase{33, 272, 5, 16, 1}, LinearCase{34, 272, 66, 66, 1}, LinearCase{33, 64, 5, 66, 1},
        LinearCase{34, 272, 5, 16, 1}, LinearCase{34, 64, 5, 16, 1}}) {
    ExpectEveryOutput(PackedRun(shape, 4), {LinearWay::kPacked, LinearWay::kPackedSimple});
  }
}

SK_TEST(OneGraphDoesAsManyRowsAsThereAre) {
  for (const std::uint32_t rows_max : {12u, 70u}) {
    const LinearRun run = PackedRun({40, 272, rows_max, rows_max, 2}, 11);
    const std::vector<float> all = YOf(run);
    LinearProduct product(run, {});
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
  for (const LinearWay way : {LinearWay::kPacked, LinearWay::kPackedSimple}) {
    for (const std::uint32_t rows_max : {1u, 64u, 200u}) {
      YOf(MakeRun(way, {16, 272, 0, rows_max}, 1));
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
