#include <cstring>
#include <vector>

#include "kernels/sk/sk.h"
#include "kernels/test/harness.h"
#include "kernels/test/random_matrix.h"

namespace cairn::test {
namespace {

// ---- ldmatrix and stmatrix ----------------------------------------------------------------------

SK_TEST(LoadMatrixGivesEachLaneItsPairs) {
  const auto kernel = [] {
    auto* values = reinterpret_cast<std::uint16_t*>(sk::SharedMemory());
    const std::uint32_t lane = sk::LaneIndex();
    for (std::uint32_t i = lane; i < 4 * 64; i += 32) values[i] = static_cast<std::uint16_t>(i);
    sk::SyncWarp();
    const sk::SharedAddress row = sk::ToShared(values + lane * 8);
    std::uint32_t plain[4], transposed[4];
    sk::LoadMatrix<4>(plain, row);
    sk::LoadMatrixTransposed<4>(transposed, row);
    for (std::uint32_t j = 0; j < 4; ++j) {
      const std::uint32_t i = lane / 4, k = lane % 4 * 2;
      SK_EXPECT_EQ(plain[j], (64 * j + 8 * i + k) | (64 * j + 8 * i + k + 1) << 16);
      SK_EXPECT_EQ(transposed[j], (64 * j + 8 * k + i) | (64 * j + 8 * (k + 1) + i) << 16);
    }
    sk::SyncWarp();
    sk::StoreMatrix<4>(row, transposed);
    sk::SyncWarp();
    for (std::uint32_t j = 0; j < 4; ++j) {  // each 8x8 matrix now lies transposed
      SK_EXPECT_EQ(values[64 * j + lane], 64 * j + lane % 8 * 8 + lane / 8);
    }
    sk::SyncWarp();
    std::uint32_t one[1] = {0x00020001u * (lane + 1)};
    sk::StoreMatrix<1>(row, one);
    sk::SyncWarp();
    SK_EXPECT_EQ(values[lane * 2], lane + 1);
    std::uint32_t two[2];
    sk::LoadMatrix<2>(two, row);
    SK_EXPECT_EQ(two[0], one[0]);
  };
  for (const std::uint64_t seed : Seeds(4)) {
    SK_EXPECT_EQ(RunGrid({.threads = 32, .shared_bytes = 512}, seed, kernel), "");
  }
}

// ---- mma.sync -----------------------------------------------------------------------------------

// One 16x8x16 product whose fragments are built by the layouts that matrix.h states.
std::vector<float> WarpProduct(const Matrix& a, const Matrix& b, bool is_f16, float start = 0.0f) {
  std::vector<float> result(16 * 8);
  const auto kernel = [&] {
    const std::uint32_t g = sk::LaneIndex() / 4, t = sk::LaneIndex() % 4;
    const auto pair = [](const Matrix& m, std::uint32_t row, std::uint32_t column) {
      return m.at(row, column) | static_cast<std::uint32_t>(m.at(row, column + 1)) << 16;
    };
    const std::uint32_t fragment_a[4] = {pair(a, g, 2 * t), pair(a, g + 8, 2 * t),
                                         pair(a, g, 2 * t + 8), pair(a, g + 8, 2 * t + 8)};
    const std::uint32_t fragment_b[2] = {pair(b, g, 2 * t), pair(b, g, 2 * t + 8)};
    float c[4] = {start, start, start, start};
    if (is_f16) {
      sk::MmaF16(c, fragment_a, fragment_b);
    } else {
      sk::MmaBf16(c, fragment_a, fragment_b);
    }
    for (std::uint32_t i = 0; i < 4; ++i) result[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = c[i];
  };
  SK_EXPECT_EQ(RunGrid({.threads = 32}, RunSettings().first_seed, kernel), "");
  return result;
}

SK_TEST(MmaMultipliesBf16AndF16) {
  for (const bool is_f16 : {false, true}) {
    const Matrix a = RandomMatrix(16, 16, 1, is_f16), b = RandomMatrix(8, 16, 2, is_f16);
    SK_EXPECT_EQ(Differs(WarpProduct(a, b, is_f16), ProductOf(a, b, is_f16), 16), "");
  }
}

// ---- wgmma --------------------------------------------------------------------------------------

constexpr std::uint32_t kN = 32;

struct WgmmaCase {
  sk::Swizzle swizzle;
  sk::Major major_a, major_b;
  bool is_f16 = false;
};

// Where (row, k) of an operand with `rows` rows and 16 columns of k goes, by another way than the
// emulator's: for K-major tiles a matrix of w-chunk rows, for MN-major ones one of w-chunk columns,
// in which every byte moves as SwizzleAddress says.
std::uint32_t PlaceOf(sk::Swizzle swizzle, sk::Major major, std::uint32_t rows, std::uint32_t row,
                      std::uint32_t k) {
  const std::uint32_t width = sk::SwizzleChunks(swizzle), pattern = sk::PatternBytes(swizzle);
  std::uint32_t place = 0;
  if (major == sk::Major::kK) {
    const std::uint32_t line = width * 16;  // bytes of a row of the swizzled matrix
    place = swizzle == sk::Swizzle::kNone
                ? k / 8 * (rows / 8 * 128) + row * 16 + k % 8 * 2  // column of chunks after column
                : row * line + k * 2;
  } else {
    const std::uint32_t block = width * 8;  // values of M or N that lie side by side
    place = row / block * (2 * pattern) + k / 8 * pattern + k % 8 * (width * 16) + row % block * 2;
  }
  return sk::SwizzleAddress(place, swizzle);
}

sk::MatrixLayout LayoutOf(const WgmmaCase& c, sk::Major major, std::uint32_t rows,
                          sk::SharedAddress start) {
  const std::uint32_t pattern = sk::PatternBytes(c.swizzle);
  sk::MatrixLayout layout{.start = start, .swizzle = c.swizzle};
  if (major == sk::Major::kK) {
    layout.stride_bytes = c.swizzle == sk::Swizzle::kNone ? 128 : pattern;
    layout.leading_bytes = c.swizzle == sk::Swizzle::kNone ? rows / 8 * 128 : 0;
  } else if (c.swizzle == sk::Swizzle::kNone) {
    layout.stride_bytes = 2 * pattern;  // to the next 8 values of M or N
    layout.leading_bytes = pattern;     // to the next 8 of k
  } else {
    layout.leading_bytes = 2 * pattern;
    layout.stride_bytes = pattern;
  }
  return layout;
}

void Fill(std::byte* tile, const Matrix& matrix, const WgmmaCase& c, sk::Major major) {
  for (std::uint32_t i = sk::ThreadIndex(); i < matrix.rows * 16; i += sk::kWarpgroupThreads) {
    const std::uint16_t bits = matrix.at(i / 16, i % 16);
    std::memcpy(tile + PlaceOf(c.swizzle, major, matrix.rows, i / 16, i % 16), &bits, 2);
  }
}

template <sk::Major kMajorA, sk::Major kMajorB, sk::InputType kType>
std::string RunWgmma(const WgmmaCase& c, std::uint64_t seed, std::vector<float>& result,
                     const Matrix& a, const Matrix& b, std::uint32_t shift = 0) {
  const auto kernel = [&] {
    std::byte* tile_a = sk::SharedMemory() + shift;
    std::byte* tile_b = tile_a + 8192;
    Fill(tile_a, a, c, kMajorA);
    Fill(tile_b, b, c, kMajorB);
    sk::FenceProxyAsync();
    sk::SyncBlock();
    sk::MatrixLayout layout_a = LayoutOf(c, kMajorA, 64, sk::ToShared(tile_a));
    sk::MatrixLayout layout_b = LayoutOf(c, kMajorB, kN, sk::ToShared(tile_b));
    layout_a.base_offset = layout_b.base_offset = shift >> 7 & 7;
    float d[kN / 2];
    sk::WgmmaFence();
    sk::Wgmma<kN, kType, kMajorA, kMajorB>(d, sk::Describe(layout_a), sk::Describe(layout_b),
                                           false);
    sk::WgmmaCommit();
    sk::WgmmaWait<0>();
    for (std::uint32_t i = 0; i < kN / 2; ++i) {
      const std::uint32_t lane = sk::LaneIndex();
      const std::uint32_t row = 16 * sk::WarpIndex() + lane / 4 + i / 2 % 2 * 8;
      result[row * kN + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
    }
  };
  return RunGrid({.threads = 128, .shared_bytes = 20 * 1024}, seed, kernel);
}

template <sk::InputType kType>
std::string RunCase(const WgmmaCase& c, std::vector<float>& result, const Matrix& a,
                    const Matrix& b, std::uint32_t shift = 0) {
  using sk::Major;
  const std::uint64_t seed = RunSettings().first_seed;
  if (c.major_a == Major::kK && c.major_b == Major::kK) {
    return RunWgmma<Major::kK, Major::kK, kType>(c, seed, result, a, b, shift);
  }
  if (c.major_a == Major::kK) {
    return RunWgmma<Major::kK, Major::kMn, kType>(c, seed, result, a, b, shift);
  }
  if (c.major_b == Major::kK) {
    return RunWgmma<Major::kMn, Major::kK, kType>(c, seed, result, a, b, shift);
  }
  return RunWgmma<Major::kMn, Major::kMn, kType>(c, seed, result, a, b, shift);
}

SK_TEST(WgmmaReadsEveryLayout) {
  for (const bool is_f16 : {false, true}) {
    const Matrix a = RandomMatrix(64, 16, 3, is_f16), b = RandomMatrix(kN, 16, 4, is_f16);
    const std::vector<double> expected = ProductOf(a, b, is_f16);
    for (const sk::Swizzle swizzle :
         {sk::Swizzle::kNone, sk::Swizzle::k32, sk::Swizzle::k64, sk::Swizzle::k128}) {
      for (const sk::Major major_a : {sk::Major::kK, sk::Major::kMn}) {
        for (const sk::Major major_b : {sk::Major::kK, sk::Major::kMn}) {
          // An MN-major k128 tile is 64 values wide; kN = 32 fills half of it.
          const WgmmaCase c{swizzle, major_a, major_b, is_f16};
          std::vector<float> result(64 * kN);
          SK_EXPECT_EQ(is_f16 ? RunCase<sk::InputType::kF16>(c, result, a, b)
                              : RunCase<sk::InputType::kBf16>(c, result, a, b),
                       "");
          SK_EXPECT_EQ(Differs(result, expected, 16), "");
        }
      }
    }
  }
}

// A pattern that starts off its natural boundary is told by the base offset: without it, another
// matrix is read.
SK_TEST(WgmmaTakesTheBaseOffsetOfAShiftedPattern) {
  const Matrix a = RandomMatrix(64, 16, 3), b = RandomMatrix(kN, 16, 4);
  std::vector<float> result(64 * kN);
  const WgmmaCase c{sk::Swizzle::k128, sk::Major::kK, sk::Major::kK};
  SK_EXPECT_EQ(RunCase<sk::InputType::kBf16>(c, result, a, b, /*shift=*/384), "");
  SK_EXPECT_EQ(Differs(result, ProductOf(a, b), 16), "");
}

// Values of very different size, whose sums must be rounded, as attention's weights are.
Matrix WideMatrix(std::uint32_t rows, std::uint64_t seed) {
  Matrix matrix = RandomMatrix(rows, 16, seed);
  sk::emu::Random random(seed);
  for (std::uint16_t& bits : matrix.bits) {
    bits = static_cast<std::uint16_t>(bits - (random.Below(12) << 7));  // times 2^0 to 2^-11
  }
  return matrix;
}

SK_TEST(WgmmaAndMmaRoundDifferently) {
  const Matrix a = WideMatrix(64, 3), b = WideMatrix(kN, 4);
  std::vector<float> result(64 * kN);
  const WgmmaCase c{sk::Swizzle::k128, sk::Major::kK, sk::Major::kK};
  SK_EXPECT_EQ(RunCase<sk::InputType::kBf16>(c, result, a, b), "");
  Matrix a16 = a, b8 = b;
  a16.rows = 16;
  b8.rows = 8;
  const std::vector<float> warp_product = WarpProduct(a16, b8, false);
  int differ = 0;
  for (std::uint32_t row = 0; row < 16; ++row) {
    for (std::uint32_t column = 0; column < 8; ++column) {
      differ += result[row * kN + column] != warp_product[row * 8 + column] ? 1 : 0;
    }
  }
  SK_EXPECT(differ > 20);  // of 128: a program that mixes the two cannot be bit-exact here
}

SK_TEST(WgmmaOutsideOfSharedMemoryIsAnError) {
  const auto kernel = [] {
    float d[kN / 2];
    const sk::MatrixDescriptor tile = sk::Describe({.start = sk::ToShared(sk::SharedMemory()),
                                                    .stride_bytes = 1024,
                                                    .swizzle = sk::Swizzle::k128});
    sk::WgmmaFence();
    sk::Wgmma<kN, sk::InputType::kBf16, sk::Major::kK, sk::Major::kK>(d, tile, tile, false);
    sk::WgmmaCommit();
    sk::WgmmaWait<0>();
  };
  SK_EXPECT_CONTAINS(RunGrid({.threads = 128, .shared_bytes = 4096}, 1, kernel), "outside of");
}

}  // namespace
}  // namespace cairn::test
