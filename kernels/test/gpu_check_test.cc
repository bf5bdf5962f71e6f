#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/gpu/measure.h"
#include "kernels/gpu/mma_equal_run.h"
#include "kernels/gpu/probe.h"
#include "kernels/sk/number_soft.h"
#include "kernels/test/device_memory.h"

// What tools/gpu-check's programs do beside being on a GPU: the arithmetic of measurements, the
// numbers of mma_equal and its verdict, and the probes. Its timing: gpu_timing_test.cc.

namespace cairn::test {
namespace {

using gpu::Bound;
using gpu::BoundOf;
using gpu::Ceilings;
using gpu::EqualNumbers;
using gpu::EqualResult;
using gpu::EqualTiles;
using gpu::EqualVariant;
using gpu::JsonLine;
using gpu::RotatedSets;

SK_TEST(MediansAreTheMiddle) {
  SK_EXPECT_EQ(gpu::Median({}), 0.0);
  SK_EXPECT_EQ(gpu::Median({5}), 5.0);
  SK_EXPECT_EQ(gpu::Median({9, 1, 4}), 4.0);
  SK_EXPECT_EQ(gpu::Median({8, 1, 2, 4}), 3.0);
  SK_EXPECT_EQ(gpu::Spread({8, 10, 13}), 0.5);
  SK_EXPECT_EQ(gpu::Spread({}), 0.0);
}

SK_TEST(ABoundIsTheLongerOfBytesAndFlops) {
  const Ceilings ceilings{.read = 100, .copy = 50, .flops = 1000};
  const Bound read = BoundOf({.read = 200, .written = 10, .flops = 100}, ceilings);
  SK_EXPECT_EQ(read.seconds, 2.1);
  SK_EXPECT_EQ(std::string(read.by), "bytes");
  SK_EXPECT_EQ(BoundOf({.read = 100, .written = 100}, ceilings).seconds, 4.0);
  const Bound flops = BoundOf({.read = 200, .flops = 3000}, ceilings);
  SK_EXPECT_EQ(flops.seconds, 3.0);
  SK_EXPECT_EQ(std::string(flops.by), "flops");
  // What was not measured bounds nothing.
  SK_EXPECT_EQ(std::string(BoundOf({.flops = 3000}, {.read = 100}).by), "");
  SK_EXPECT_EQ(BoundOf({.read = 200, .flops = 9000}, {.read = 100}).seconds, 2.0);
}

SK_TEST(SetsOfBuffersAreMoreThanFourTimesTheL2) {
  constexpr std::uint64_t kL2 = 60 << 20, kRoom = std::uint64_t{60} << 30;
  for (const std::uint64_t bytes : {std::uint64_t{1} << 20, std::uint64_t{16} << 20,
                                    std::uint64_t{240} << 20, std::uint64_t{2} << 30}) {
    const std::uint32_t sets = RotatedSets(bytes, kL2, kRoom);
    SK_EXPECT(sets >= 2 && sets * bytes > 4 * kL2);
    SK_EXPECT(sets == 2 || (sets - 1) * bytes <= 4 * kL2);  // and no more than that
  }
  SK_EXPECT_EQ(RotatedSets(1 << 20, kL2, 10 << 20), 10u);  // as many as fit
  SK_EXPECT_EQ(RotatedSets(1 << 20, kL2, 1000), 1u);
  SK_EXPECT_EQ(RotatedSets(16, kL2, kRoom), 4096u);
}

SK_TEST(BatchesLastAsLongAsAsked) {
  SK_EXPECT_EQ(gpu::RunsInBatch(0.004, 0.01, 100), 3u);
  SK_EXPECT_EQ(gpu::RunsInBatch(1.0, 0.01, 100), 1u);
  SK_EXPECT_EQ(gpu::RunsInBatch(1e-9, 0.01, 100), 100u);
  SK_EXPECT_EQ(gpu::RunsInBatch(0, 0.01, 100), 100u);
}

SK_TEST(ScatteredSlotsAreEachOnce) {
  for (const std::uint32_t count : {0u, 1u, 2u, 64u, 2048u, 7919u}) {
    std::vector<std::uint32_t> slots = gpu::ScatteredSlots(count);
    if (count == 64) SK_EXPECT(slots[1] - slots[0] != 1);
    std::sort(slots.begin(), slots.end());
    SK_EXPECT_EQ(slots.size(), std::size_t{count});
    for (std::uint32_t i = 0; i < count; ++i) SK_EXPECT_EQ(slots[i], i);
  }
}

SK_TEST(RowsAreJson) {
  JsonLine line;
  line.Add("a", "say \"x\\y\"\n").Add("b", 1.5).Add("c", std::uint64_t{7}).Add("d", true);
  line.Add("e", std::nan(""));
  SK_EXPECT_EQ(line.text(), R"({"a": "say \"x\\y\" ", "b": 1.5, "c": 7, "d": true, "e": null})");
}

// ---- mma_equal ----------------------------------------------------------------------------------

double ProductOf(const EqualTiles& tiles, std::uint32_t tile, std::uint32_t row, std::uint32_t at,
                 std::uint32_t column) {
  const std::size_t a = (std::size_t{tile} * gpu::kEqualRows + row) * tiles.k + at;
  const std::size_t b = (std::size_t{tile} * tiles.n + column) * tiles.k + at;
  return double{sk::soft::FromBf16(tiles.a[a])} * sk::soft::FromBf16(tiles.b[b]);
}

SK_TEST(NumbersAreWhatTheirNamesSay) {
  for (const EqualNumbers numbers : gpu::kEqualNumbers) {
    const EqualTiles tiles = gpu::MakeEqualTiles(numbers, 64, 8, 2, 5);
    double least = 1e300, most = 0, sum_of_all = 0, size_of_all = 0;
    for (std::uint32_t row = 0; row < gpu::kEqualRows; ++row) {
      double sum = 0, size = 0;
      for (std::uint32_t at = 0; at < 64; ++at) {
        const double product = ProductOf(tiles, 1, row, at, row % 8);
        sum += product;
        size += std::fabs(product);
        if (product != 0) least = std::min(least, std::fabs(product));
        most = std::max(most, std::fabs(product));
        if (numbers == EqualNumbers::kIntegers) SK_EXPECT_EQ(product, std::round(product));
      }
      sum_of_all += std::fabs(sum);
      size_of_all += size;
    }
    if (numbers == EqualNumbers::kWide) SK_EXPECT(most / least > 0x1p40);
    if (numbers == EqualNumbers::kTiny) SK_EXPECT(most < 0x1p-116 && least < 0x1p-126);
    // Pairs of opposite signs: what is left of them is a last place here and there.
    if (numbers == EqualNumbers::kCancelling) SK_EXPECT(sum_of_all < size_of_all * 0.01);
    if (numbers == EqualNumbers::kEven) SK_EXPECT(sum_of_all > size_of_all * 0.02);
    for (const float start : tiles.start) {
      const bool starts = numbers == EqualNumbers::kWide || numbers == EqualNumbers::kIntegers;
      SK_EXPECT(std::isfinite(start) && (starts || start == 0));
    }
  }
}

SK_TEST(UnequalSumsAreCountedByTheirBits) {
  const std::vector<float> x = {1, 2, 0.0f, 4, 8}, y = {1, 2.5f, -0.0f, 4, 8};
  const gpu::EqualCount count = gpu::Compare(x, y);
  SK_EXPECT_EQ(count.dots, 5u);
  SK_EXPECT_EQ(count.unequal, 2u);
  SK_EXPECT_EQ(count.first, 1u);
  SK_EXPECT_EQ(count.largest_relative, 0.2);
  EqualTiles tiles = gpu::MakeEqualTiles(EqualNumbers::kIntegers, 16, 8, 2, 1);
  const std::string text = gpu::DescribeDot(tiles, 64 * 8 + 3 * 8 + 5, 1.0f, 2.0f);
  SK_EXPECT_CONTAINS(text, "tile 1, row 3, column 5: 3f800000 and 40000000");
  SK_EXPECT_CONTAINS(text, "; a ");
  tiles.k = 256;
  SK_EXPECT(gpu::DescribeDot(tiles, 0, 1.0f, 2.0f).find("; a ") == std::string::npos);
}

// An emulated device with this run's mutations, whose sites count among the program's.
class Emulated {
 public:
  explicit Emulated(std::uint64_t seed) : device_(OpenDevice(seed)) {}
  ~Emulated() { AddSitesOf(*device_); }
  rt::Device& operator*() const { return *device_; }
  rt::Device* operator->() const { return device_.get(); }

 private:
  std::unique_ptr<rt::Device> device_;
};

// The emulator sums mma.sync one by one, and wgmma in a tree: so exact sums are equal, others are
// not, mma.sync is the chain, and places and zeros change nothing.
SK_TEST(MmaEqualFindsWhatTheEmulatorIsKnownToDo) {
  const Emulated device(RunSettings().first_seed);
  std::vector<std::string> lines;
  const EqualVariant variants[] = {EqualVariant::kN8, EqualVariant::kN64Registers};
  rt::Result<EqualResult> result =
      gpu::RunMmaEqual(*device, {.dots = 600, .seconds = 100, .variants = variants},
                       [&](const std::string& line) { lines.push_back(line); });
  SK_EXPECT_EQ(result.status().message(), "");
  SK_EXPECT_EQ(result->wrong, "");
  SK_EXPECT_EQ(result->left_out, 0u);
  SK_EXPECT(result->wgmma_unequal > 100 && result->wgmma_unequal < result->dots);
  SK_EXPECT_EQ(lines.size(), std::size_t{2 * 2 * 5 + 1});
  for (const std::string& line : lines) {
    if (line.find("\"all\"") != std::string::npos) continue;
    SK_EXPECT_CONTAINS(line, "\"moved_unequal\": 0, \"zeros_unequal\": 0, \"chain_unequal\": 0");
    const bool is_exact = line.find("integers") != std::string::npos;
    SK_EXPECT_EQ(line.find("\"wgmma_unequal\": 0,") != std::string::npos, is_exact);
    SK_EXPECT_EQ(line.find("\"mma_and_wgmma\": \"tile ") == std::string::npos, is_exact);
  }
}

SK_TEST(WideTilesAreSummedRight) {
  // m64n256k16 and m64n64k16 from shared memory: exact sums by all ways.
  const Emulated device(3);
  rt::Stream stream = std::move(*device->OpenStream());
  for (const EqualVariant variant : {EqualVariant::kN64, EqualVariant::kN256}) {
    const std::uint32_t n = gpu::ColumnsOf(variant);
    const EqualTiles tiles = gpu::MakeEqualTiles(EqualNumbers::kIntegers, 32, n, 1, 9);
    const std::size_t dots = tiles.start.size();
    rt::Buffer a = std::move(*device->Allocate(tiles.a.size() * 2));
    rt::Buffer b = std::move(*device->Allocate(tiles.b.size() * 2));
    rt::Buffer start = std::move(*device->Allocate(dots * 4));
    rt::Buffer sums = std::move(*device->Allocate(gpu::kEqualSums * dots * 4));
    std::copy(tiles.a.begin(), tiles.a.end(), a.as<std::uint16_t>());
    std::copy(tiles.b.begin(), tiles.b.end(), b.as<std::uint16_t>());
    std::copy(tiles.start.begin(), tiles.start.end(), start.as<float>());
    const gpu::EqualParams params{
        a.as<std::uint16_t>(), b.as<std::uint16_t>(), start.as<float>(), 32, 1, sums.as<float>()};
    SK_EXPECT_EQ(gpu::RunEqual(stream, variant, params).message(), "");
    SK_EXPECT_EQ(stream.Synchronize().message(), "");
    for (std::uint32_t i = 0; i < dots; i += 7) {
      double expected = tiles.start[i];
      for (std::uint32_t at = 0; at < 32; ++at) expected += ProductOf(tiles, 0, i / n, at, i % n);
      for (std::uint32_t which = 0; which < gpu::kEqualSums; ++which) {
        SK_EXPECT_EQ(double{sums.as<float>()[which * dots + i]}, expected);
      }
    }
  }
}

SK_TEST(OnlyWhatHoldsForEveryOrderIsWrong) {
  struct Break {
    EqualNumbers numbers;
    gpu::EqualSum which;
    const char* wrong;
  };
  const Break breaks[] = {
      {EqualNumbers::kIntegers, gpu::kByWgmma, "small integers: exact sums differ"},
      {EqualNumbers::kIntegers, gpu::kByChain, "small integers: exact sums differ"},
      {EqualNumbers::kWide, gpu::kByWgmma, ""},
      {EqualNumbers::kWide, gpu::kByChain, ""},
      {EqualNumbers::kWide, gpu::kMoved, "wide exponents: mma.sync's sums depend on the place"},
      {EqualNumbers::kTiny, gpu::kZeros, "mma.sync with B = 0 changes its accumulator"}};
  for (const Break& b : breaks) {
    const EqualTiles tiles = gpu::MakeEqualTiles(b.numbers, 16, 8, 1, 4);
    std::vector<float> sums(gpu::kEqualSums * tiles.start.size(), 1.0f);
    sums[b.which * tiles.start.size() + 17] = 2.0f;
    EqualResult result;
    std::string line;
    gpu::JudgeCase(EqualVariant::kN8, b.numbers, tiles, sums, result,
                   [&](const std::string& printed) { line = printed; });
    if (*b.wrong == 0) SK_EXPECT_EQ(result.wrong, "");
    SK_EXPECT_CONTAINS(result.wrong, b.wrong);
    SK_EXPECT_EQ(result.wgmma_unequal, b.which == gpu::kByWgmma ? 1u : 0u);
    SK_EXPECT_CONTAINS(line, "row 2, column 1: 3f800000 and 40000000");
  }
}

SK_TEST(CasesWithoutTimeAreLeftOutAndCounted) {
  const Emulated device(1);
  std::vector<std::string> lines;
  const EqualVariant variants[] = {EqualVariant::kN8};
  rt::Result<EqualResult> result =
      gpu::RunMmaEqual(*device, {.dots = 1, .seconds = -1, .variants = variants},
                       [&](const std::string& line) { lines.push_back(line); });
  SK_EXPECT_EQ(result.status().message(), "");
  SK_EXPECT_EQ(result->left_out, 10u);
  SK_EXPECT_EQ(lines.size(), std::size_t{1});
  SK_EXPECT_CONTAINS(lines[0], "\"cases_left_out\": 10");
}

// ---- Probes -------------------------------------------------------------------------------------

constexpr std::uint64_t kProbeWords = 4 * (2 * 512 * 8 + 700);  // no multiple of what threads take

SK_TEST(TheReadersReadEveryWord) {
  const Emulated device(4);
  rt::Stream stream = std::move(*device->OpenStream());
  rt::Buffer words = std::move(*device->Allocate(kProbeWords * 4));
  rt::Buffer sink = std::move(*device->Allocate(4));
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{4 * 512 * 2 * 3 + 1},
                                 kProbeWords - 4 * 512 - 2, kProbeWords - 1}) {
    std::fill_n(words.as<std::uint32_t>(), kProbeWords, 0u);
    words.as<std::uint32_t>()[at] = 0x12345678u;  // the pattern that is told
    *sink.as<std::uint32_t>() = 0;
    SK_EXPECT_EQ(gpu::ReadAll(stream, {words.bytes(), kProbeWords * 4, sink.as<std::uint32_t>(), 2})
                     .message(),
                 "");
    SK_EXPECT_EQ(stream.Synchronize().message(), "");
    SK_EXPECT_EQ(*sink.as<std::uint32_t>(), 0x12345678u);
  }
}

SK_TEST(RandomWordsAreCopiedWhole) {
  const Emulated device(5);
  rt::Stream stream = std::move(*device->OpenStream());
  rt::Buffer from = std::move(*device->Allocate(kProbeWords * 4));
  rt::Buffer to = std::move(*device->Allocate(kProbeWords * 4 + 16));
  auto* words = from.as<std::uint32_t>();
  SK_EXPECT_EQ(gpu::FillRandom(stream, {words, kProbeWords, 8, 2}).message(), "");
  SK_EXPECT_EQ(gpu::CopyAll(stream, {from.bytes(), to.bytes(), kProbeWords * 4, 2}).message(), "");
  SK_EXPECT_EQ(stream.Synchronize().message(), "");
  SK_EXPECT(std::equal(words, words + kProbeWords, to.as<std::uint32_t>()));
  SK_EXPECT_EQ(to.as<std::uint32_t>()[kProbeWords], 0xffffffffu);
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < kProbeWords; ++i) {
    const double x = sk::soft::FromBf16(words[i] & 0xffff), y = sk::soft::FromBf16(words[i] >> 16);
    SK_EXPECT(std::fabs(x) <= 1 && std::fabs(y) <= 1);
    sum += x * y + x;
    squares += (x * x + y * y) / 2;
  }
  // Means of an even distribution, and of two that have nothing to do with each other.
  SK_EXPECT(std::fabs(sum / kProbeWords) < 0.02);
  SK_EXPECT(std::fabs(squares / kProbeWords - 1.0 / 3) < 0.02);
}

void RunBareLoops(std::uint64_t seed) {
  const Emulated device(seed);
  rt::Stream stream = std::move(*device->OpenStream());
  constexpr std::uint32_t kThreads = gpu::kProductThreads;
  rt::Buffer mma = std::move(*device->Allocate(2 * kThreads * sizeof(float)));
  rt::Buffer wgmma = std::move(*device->Allocate(kThreads * sizeof(float)));
  rt::Buffer passed = std::move(*device->Allocate(16));
  SK_EXPECT_EQ(gpu::RunMma(stream, {mma.as<float>(), 2, 2}).message(), "");
  SK_EXPECT_EQ(gpu::RunWgmma(stream, {wgmma.as<float>(), 2, 1}).message(), "");
  SK_EXPECT_EQ(gpu::ReadClock(stream, {passed.as<std::uint64_t>(), 5000}).message(), "");
  SK_EXPECT_EQ(stream.Synchronize().message(), "");
  for (std::uint32_t i = 0; i < 2 * kThreads; ++i) {
    SK_EXPECT(std::isfinite(mma.as<float>()[i]) && mma.as<float>()[i] != 0);
    if (i >= kThreads) continue;
    SK_EXPECT(std::isfinite(wgmma.as<float>()[i]) && wgmma.as<float>()[i] != 0);
  }
  // The emulated clock: a microsecond a look, 2 GHz.
  const std::uint64_t cycles = passed.as<std::uint64_t>()[0];
  const std::uint64_t nanoseconds = passed.as<std::uint64_t>()[1];
  SK_EXPECT(nanoseconds >= 5000 && nanoseconds < 10000);
  SK_EXPECT_EQ(cycles, nanoseconds * 2);
}

SK_TEST(BareLoopsMultiplyAndTheClockIsRead) {
  for (const std::uint64_t seed : Seeds(4)) RunBareLoops(seed);
  // m16n8k16: 8 sums, 8 warps; m64n256k16: 4 steps, 2 groups. Rounds, blocks.
  SK_EXPECT_EQ(gpu::MmaFlops({nullptr, 3, 5}), 4096.0 * 8 * 8 * 3 * 5);
  SK_EXPECT_EQ(gpu::WgmmaFlops({nullptr, 3, 5}), 524288.0 * 4 * 2 * 3 * 5);
}

}  // namespace
}  // namespace cairn::test
