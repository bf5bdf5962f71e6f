#include "kernels/linear/linear.h"

#include "kernels/test/linear_world.h"

namespace cairn::test {
namespace {

using kernels::LinearParams;
using kernels::SplitsOf;

// Of the fast kernel: grids of 16-, 64- and 128-row tiles; one split and several; ragged n and k.
constexpr LinearCase kCases[] = {{8, 16, 1, 1},      {130, 80, 3, 16},   {96, 272, 16, 16},
                                 {33, 400, 17, 33},  {128, 256, 64, 64}, {200, 528, 40, 64},
                                 {72, 400, 70, 130}, {136, 64, 129, 129}};

SK_TEST(ProductsAreThoseInDouble) {
  for (const LinearCase& shape : kCases) {
    const LinearRun run = MakeRun(LinearWay::kMma, shape, 3);
    ExpectProductInDouble(run, YOf(run));
  }
}

SK_TEST(FastProductsHaveTheSimpleKernelsBits) {
  for (const std::uint64_t seed : Seeds(2)) {
    for (const LinearCase& shape : kCases) {
      LinearRun run = MakeRun(LinearWay::kMma, shape, seed);
      run.seed = seed;
      SK_EXPECT(AreBitsEqual(YOf(run), YBy(LinearWay::kMmaSimple, run)));
    }
  }
}

SK_TEST(ARowsBitsDependOnNeitherNumberNorPlace) {
  const LinearCase all = {72, 400, 70, 130};
  SK_EXPECT(SplitsOf(all.n, all.k).count == 3);
  ExpectRowsKeepTheirBits(MakeRun(LinearWay::kMma, all, 9), {1, 16, 17, 64, 65});
}

SK_TEST(ProductsComeOutAsAsked) {
  for (const LinearCase& shape :
       {LinearCase{33, 272, 5, 16}, LinearCase{33, 272, 66, 66}, LinearCase{33, 64, 5, 16},
        LinearCase{34, 272, 5, 16}, LinearCase{34, 272, 66, 66}, LinearCase{34, 64, 5, 16}}) {
    ExpectEveryOutput(MakeRun(LinearWay::kMma, shape, 4), {LinearWay::kMma, LinearWay::kMmaSimple});
  }
}

SK_TEST(NoRowsAreNoProducts) {
  for (const std::uint32_t rows_max : {1u, 64u, 200u}) {
    YOf(MakeRun(LinearWay::kMma, {16, 272, 0, rows_max}, 1));
  }
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
