#include <cmath>
#include <limits>

#include "kernels/reference/rows_ref.h"
#include "kernels/rows/elements.h"
#include "kernels/rows/embed.h"
#include "kernels/rows/kv_rows.h"
#include "kernels/rows/norm.h"
#include "kernels/test/device_memory.h"
#include "kernels/test/random_matrix.h"

namespace cairn::test {
namespace {

constexpr std::uint16_t kNan = 0x7fff;
constexpr std::uint16_t kGuard = 0xa5a5;

std::vector<double> RowOf(const std::vector<float>& x, std::size_t row, std::size_t width) {
  return {x.begin() + row * width, x.begin() + (row + 1) * width};
}

// One rounding to bf16, and a little of fp32 before it.
bool IsRounded(std::uint16_t bits, double exact, double slack) {
  return std::fabs(sk::soft::FromBf16(bits) - exact) <= std::fabs(exact) * (0x1p-8 + slack) + 1e-38;
}

std::vector<std::uint16_t> Normed(const std::vector<float>& x, const std::vector<float>& weight,
                                  const std::vector<std::uint32_t>& picked, std::uint32_t rows,
                                  std::uint64_t seed) {
  TestDevice device(seed);
  const auto width = static_cast<std::uint32_t>(weight.size());
  rt::Buffer x_buffer = device.Make(x);
  rt::Buffer weights = device.Make(weight);
  rt::Buffer list = device.Make(picked);
  rt::Buffer count = device.Make(std::vector<std::uint32_t>{rows});
  rt::Buffer y = device.Make(std::vector<std::uint16_t>(std::size_t{rows + 2} * width, kGuard));
  kernels::NormParams params;
  params.x = x_buffer.as<float>();
  params.weight = weights.as<float>();
  params.y = y.as<std::uint16_t>();
  params.width = width;
  params.epsilon = 1e-5f;
  params.picked = picked.empty() ? nullptr : list.as<std::uint32_t>();
  params.row_count = count.as<std::uint32_t>();
  params.rows_max = rows + 2;
  SK_EXPECT_EQ(kernels::NormRows(device.stream(), params).message(), "");
  std::vector<std::uint16_t> got = device.Read<std::uint16_t>(y);
  for (std::size_t i = std::size_t{rows} * width; i < got.size(); ++i) SK_EXPECT_EQ(got[i], kGuard);
  got.resize(std::size_t{rows} * width);
  return got;
}

SK_TEST(RowsAreNormedAsInDouble) {
  for (const std::uint64_t seed : Seeds(2)) {
    for (const std::uint32_t width : {4u, 64u, 516u, 1104u}) {
      for (const float spread : {1e-3f, 30.0f}) {
        const std::vector<float> x = RandomFloats(std::size_t{3} * width, seed, spread);
        std::vector<float> weight = RandomFloats(width, seed + 5, 2);
        const std::vector<std::uint16_t> y = Normed(x, weight, {}, 3, seed);
        for (std::size_t r = 0; r < 3; ++r) {
          const std::vector<double> expected =
              reference::RmsNorm(RowOf(x, r, width), RowOf(weight, 0, width), 1e-5f);
          for (std::size_t i = 0; i < width; ++i) {
            SK_EXPECT(IsRounded(y[r * width + i], expected[i], 1e-6));
          }
        }
      }
    }
  }
}

SK_TEST(PickedRowsHaveTheBitsOfAll) {
  const std::uint32_t width = 516;
  const std::vector<float> x = RandomFloats(std::size_t{5} * width, 8, 3);
  const std::vector<float> weight = RandomFloats(width, 9, 1);
  const std::vector<std::uint16_t> all = Normed(x, weight, {}, 5, 1);
  const std::vector<std::uint16_t> picked = Normed(x, weight, {4, 1, 4}, 3, 2);
  std::size_t at = 0;
  for (const std::size_t row : {4, 1, 4}) {
    for (std::size_t i = 0; i < width; ++i) SK_EXPECT_EQ(picked[at++], all[row * width + i]);
  }
  SK_EXPECT(Normed(x, weight, {}, 0, 3).empty());
}

SK_TEST(NormSaysWhichParameterIsWrong) {
  kernels::NormParams params;
  params.width = 6;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "width is 6");
  params.width = 8;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "epsilon");
  params.epsilon = 1e-5f;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "rows_max is 0");
  params.rows_max = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
}

// Runs over rows of x, of which NaNs follow the last.
std::vector<std::uint16_t> Elements(std::vector<float> x, std::uint32_t width, std::uint32_t rows,
                                    bool gates) {
  TestDevice device(4);
  x.resize(x.size() + 4 * width, std::nanf(""));
  rt::Buffer x_buffer = device.Make(x);
  rt::Buffer y = device.Make(std::vector<std::uint16_t>(std::size_t{rows + 2} * width, kGuard));
  rt::Buffer count = device.Make(std::vector<std::uint32_t>{rows});
  kernels::ElementsParams params;
  params.x = x_buffer.as<float>();
  params.y = y.as<std::uint16_t>();
  params.width = width;
  params.row_count = count.as<std::uint32_t>();
  params.rows_max = rows + 2;
  const rt::Status status = gates ? kernels::SwigluRows(device.stream(), params)
                                  : kernels::RoundRows(device.stream(), params);
  SK_EXPECT_EQ(status.message(), "");
  std::vector<std::uint16_t> got = device.Read<std::uint16_t>(y);
  for (std::size_t i = std::size_t{rows} * width; i < got.size(); ++i) SK_EXPECT_EQ(got[i], kGuard);
  got.resize(std::size_t{rows} * width);
  return got;
}

SK_TEST(RowsAreRoundedOnce) {
  for (const std::uint32_t width : {2u, 254u, 258u}) {
    const std::vector<float> x = RandomFloats(std::size_t{3} * width, width, 1e4f);
    const std::vector<std::uint16_t> y = Elements(x, width, 3, false);
    for (std::size_t i = 0; i < x.size(); ++i) SK_EXPECT_EQ(y[i], sk::soft::RoundBf16(x[i]));
  }
  SK_EXPECT(Elements({}, 8, 0, false).empty());
}

SK_TEST(GatesAreThoseInDouble) {
  for (const std::uint32_t width : {2u, 254u, 258u}) {
    for (const float spread : {1.0f, 200.0f}) {
      const std::vector<float> x = RandomFloats(std::size_t{6} * width, width, spread);
      const std::vector<std::uint16_t> y = Elements(x, width, 3, true);
      for (std::size_t r = 0; r < 3; ++r) {
        const std::vector<double> gate = RowOf(x, 2 * r, width), up = RowOf(x, 2 * r + 1, width);
        for (std::size_t i = 0; i < width; ++i) {
          // exp of a gate near -88 is in error by its argument's last bit; below, the GPU's 2^x is
          // infinite, and the gate 0.
          const double exact = reference::Swiglu(gate[i], up[i]);
          SK_EXPECT(IsRounded(y[r * width + i], exact, 2e-5) ||
                    (gate[i] < -87 && y[r * width + i] % 0x8000 == 0));
        }
      }
    }
  }
}

SK_TEST(ElementsSayWhichParameterIsWrong) {
  kernels::ElementsParams params;
  params.width = 3;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "width is 3");
  params.width = 4;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "rows_max is 0");
  params.rows_max = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
}

SK_TEST(TokensAreLookedUp) {
  for (const std::uint32_t width : {2u, 256u, 258u}) {
    TestDevice device(width);
    const Matrix table = RandomMatrix(7, width, width);
    const std::vector<std::uint32_t> tokens = {6, 0, 6, 3};
    rt::Buffer table_buffer = device.Make(table.bits);
    rt::Buffer list = device.Make(tokens);
    rt::Buffer count = device.Make(std::vector<std::uint32_t>{4});
    rt::Buffer x = device.Make(std::vector<float>(std::size_t{5} * width, -7.0f));
    kernels::EmbedParams params;
    params.table = table_buffer.as<std::uint16_t>();
    params.tokens = list.as<std::uint32_t>();
    params.x = x.as<float>();
    params.width = width;
    params.row_count = count.as<std::uint32_t>();
    params.rows_max = 6;
    SK_EXPECT_EQ(kernels::EmbedRows(device.stream(), params).message(), "");
    const std::vector<float> got = device.Read<float>(x);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t row = i / width;
      SK_EXPECT_EQ(got[i], row == 4 ? -7.0f
                                    : sk::soft::FromBf16(table.at(
                                          tokens[row], static_cast<std::uint32_t>(i % width))));
    }
    params.width = 1;
    SK_EXPECT_CONTAINS(kernels::Validate(params), "width is 1");
    params.width = 2;
    params.tokens = nullptr;
    SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
  }
}

struct KvShape {
  std::uint32_t kv_heads, head_dim, block_tokens, layers;
};

// Three rows of every layer into a pool of guards, and from there to the host in both ways.
class KvWorld {
 public:
  KvWorld(const KvShape& shape, std::uint64_t seed)
      : shape_(shape),
        width_(2 * shape.kv_heads * shape.head_dim),
        block_(std::size_t{shape.layers} * width_ * shape.block_tokens + 8),
        places_{{2, 0}, {0, shape.block_tokens - 1}, {2, shape.block_tokens / 2}},
        device_(seed),
        pool_(device_.Make(std::vector<std::uint16_t>(block_ * 3, kGuard))),
        place_list_(device_.Make(places_)),
        count_(device_.Make(std::vector<std::uint32_t>{3})) {
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
      kv_.push_back(RandomMatrix(3, width_, seed * 100 + layer));
    }
  }

  void Store() {
    std::vector<std::uint16_t> expected(block_ * 3, kGuard);
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      std::vector<std::uint16_t> rows = kv_[layer].bits;
      rows.resize(rows.size() + width_, kNan);
      const rt::Buffer kv = device_.Make(rows);
      kernels::StoreKvParams params;
      params.blocks = Blocks();
      params.kv = kv.as<std::uint16_t>();
      params.places = place_list_.as<kernels::TokenPlace>();
      params.layer = layer;
      params.row_count = count_.as<std::uint32_t>();
      params.rows_max = 4;
      SK_EXPECT_EQ(kernels::StoreKv(device_.stream(), params).message(), "");
      for (std::uint32_t r = 0; r < 3; ++r) {
        PutRow(layer, r, expected.data() + places_[r].slot * block_);
      }
      SK_EXPECT(device_.Read<std::uint16_t>(pool_) == expected);
    }
  }

  void Take() {
    std::vector<std::uint16_t> expected(block_ * 3, kGuard);
    std::vector<std::uint16_t> expected_rows(std::size_t{4} * shape_.layers * width_, kGuard);
    const rt::Buffer host = device_.Make(expected);
    const rt::Buffer rows = device_.Make(expected_rows);
    // Blocks of the host are in an order of their own: slot 2 is its first.
    std::vector<std::byte*> host_blocks = {host.bytes(), host.bytes() + block_ * 2, host.bytes()};
    const rt::Buffer host_list = device_.Make(host_blocks);
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      for (std::uint32_t r = 0; r < 3; ++r) {
        PutRow(layer, r, expected.data() + (r == 1 ? block_ : 0));
        std::copy_n(kv_[layer].bits.begin() + r * width_, width_,
                    expected_rows.begin() + (std::size_t{r} * shape_.layers + layer) * width_);
      }
    }
    kernels::TakeKvParams params;
    params.blocks = Blocks();
    params.places = place_list_.as<kernels::TokenPlace>();
    params.host_blocks = host_list.as<std::byte*>();
    params.row_count = count_.as<std::uint32_t>();
    params.rows_max = 5;
    SK_EXPECT_EQ(kernels::TakeKv(device_.stream(), params).message(), "");
    SK_EXPECT(device_.Read<std::uint16_t>(host) == expected);
    params.host_blocks = nullptr;
    params.rows = rows.as<std::uint16_t>();
    SK_EXPECT_EQ(kernels::TakeKv(device_.stream(), params).message(), "");
    SK_EXPECT(device_.Read<std::uint16_t>(rows) == expected_rows);
  }

 private:
  kernels::KvBlocks Blocks() const {
    return {pool_.bytes(),   block_ * 2,      shape_.block_tokens,
            shape_.kv_heads, shape_.head_dim, shape_.layers};
  }
  void PutRow(std::uint32_t layer, std::uint32_t row, std::uint16_t* block) const {
    for (std::uint32_t i = 0; i < width_; ++i) {
      const std::uint32_t head = i / shape_.head_dim;  // of K, then of V
      const std::size_t token =
          (std::size_t{layer} * 2 * shape_.kv_heads + head) * shape_.block_tokens +
          places_[row].token;
      block[token * shape_.head_dim + i % shape_.head_dim] = kv_[layer].at(row, i);
    }
  }

  const KvShape shape_;
  const std::uint32_t width_;
  const std::size_t block_;  // values
  const std::vector<kernels::TokenPlace> places_;
  std::vector<Matrix> kv_;
  TestDevice device_;
  rt::Buffer pool_, place_list_, count_;
};

SK_TEST(KeysAndValuesGoToTheirPlacesAndBack) {
  for (const std::uint64_t seed : Seeds(2)) {
    for (const KvShape& shape :
         {KvShape{1, 16, 16, 1}, KvShape{2, 64, 32, 3}, KvShape{8, 128, 64, 2}}) {
      KvWorld world(shape, seed);
      world.Store();
      world.Take();
    }
  }
}

SK_TEST(KvRowsSayWhichParameterIsWrong) {
  kernels::StoreKvParams params;
  params.blocks.head_dim = 12;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "head_dim is 12");
  params.blocks.head_dim = 16;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "kv_heads is 0");
  params.blocks.kv_heads = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "block_tokens is 0");
  params.blocks.block_tokens = 16;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "layers is 0");
  params.blocks.layers = 1;
  params.blocks.block_bytes = 1008;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "block_bytes is 1008");
  params.blocks.block_bytes = 1024;
  params.blocks.pool = reinterpret_cast<std::byte*>(24);
  SK_EXPECT_CONTAINS(kernels::Validate(params), "the pool is null or not 16-byte aligned");
  params.blocks.pool = reinterpret_cast<std::byte*>(32);
  params.layer = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "layer is 1");
  params.layer = 0;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "rows_max is 0");
  params.rows_max = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
  kernels::TakeKvParams take;
  take.blocks = params.blocks;
  SK_EXPECT_CONTAINS(kernels::Validate(take), "rows_max is 0");
  take.rows_max = 1;
  const kernels::TokenPlace place = {};
  const std::uint32_t count = 1;
  take.places = &place;
  take.row_count = &count;
  SK_EXPECT_CONTAINS(kernels::Validate(take), "neither or both");
}

}  // namespace
}  // namespace cairn::test
