#include "kernels/gpu/mma_equal_run.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "kernels/gpu/measure.h"

namespace cairn::gpu {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Case {
  EqualVariant variant;
  EqualNumbers numbers;
  std::uint32_t k;
};
std::vector<Case> CasesOf(std::span<const EqualVariant> variants) {
  std::vector<Case> cases;
  for (const EqualVariant variant : variants) {
    for (const std::uint32_t k : {16u, 64u, 256u}) {
      if (k > 64 && variant != EqualVariant::kN64) continue;
      for (const EqualNumbers numbers : kEqualNumbers) cases.push_back({variant, numbers, k});
    }
  }
  return cases;
}

// One case on the device: all sums, [kEqualSums][dots].
class Runner {
 public:
  Runner(rt::Device& device, rt::Stream& stream) : device_(device), stream_(stream) {}

  rt::Result<std::vector<float>> Run(const Case& c, const EqualTiles& tiles) {
    const std::size_t dots = tiles.start.size();
    EqualParams params;
    params.k = c.k;
    params.tiles = tiles.tiles;
    const rt::Buffer a = Upload(tiles.a.data(), tiles.a.size() * 2);
    const rt::Buffer b = Upload(tiles.b.data(), tiles.b.size() * 2);
    const rt::Buffer start = Upload(tiles.start.data(), dots * 4);
    const rt::Buffer sums = Take(device_.Allocate(kEqualSums * dots * 4));
    const rt::Buffer host = Take(device_.AllocatePinned(kEqualSums * dots * 4));
    if (!status_.ok()) return status_;
    params.a = a.as<std::uint16_t>();
    params.b = b.as<std::uint16_t>();
    params.start = start.as<float>();
    params.sums = sums.as<float>();
    Check(stream_.FillAsync(sums.bytes(), 0xff, sums.size()));
    Check(RunEqual(stream_, c.variant, params));
    Check(stream_.CopyAsync(host.bytes(), sums.bytes(), sums.size()));
    Check(stream_.Synchronize());
    if (!status_.ok()) return status_;
    const auto* values = host.as<float>();
    return std::vector<float>(values, values + kEqualSums * dots);
  }

 private:
  void Check(rt::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  rt::Buffer Take(rt::Result<rt::Buffer> buffer) {
    if (buffer.ok()) return std::move(*buffer);
    Check(buffer.status());
    return {};
  }
  rt::Buffer Upload(const void* source, std::size_t bytes) {
    rt::Buffer host = Take(device_.AllocatePinned(bytes));
    rt::Buffer target = Take(device_.Allocate(bytes));
    if (!status_.ok()) return target;
    std::memcpy(host.bytes(), source, bytes);
    Check(stream_.CopyAsync(target.bytes(), host.bytes(), bytes));
    Check(stream_.Synchronize());  // before `host` goes
    return target;
  }

  rt::Device& device_;
  rt::Stream& stream_;
  rt::Status status_;
};

}  // namespace

void JudgeCase(EqualVariant variant, EqualNumbers numbers, const EqualTiles& tiles,
               std::span<const float> sums, EqualResult& result, const Print& print) {
  const std::size_t dots = tiles.start.size();
  const auto of = [&](EqualSum which) { return sums.subspan(which * dots, dots); };
  const EqualCount wgmma = Compare(of(kByMma), of(kByWgmma));
  const EqualCount moved = Compare(of(kByMma), of(kMoved));
  const EqualCount zeros = Compare(of(kByMma), of(kZeros));
  const EqualCount chain = Compare(of(kByMma), of(kByChain));
  JsonLine line;
  line.Add("row", "mma_equal").Add("wgmma", NameOf(variant)).Add("numbers", NameOf(numbers));
  line.Add("k", tiles.k).Add("dots", wgmma.dots).Add("wgmma_unequal", wgmma.unequal);
  line.Add("wgmma_largest_relative", wgmma.largest_relative).Add("moved_unequal", moved.unequal);
  line.Add("zeros_unequal", zeros.unequal).Add("chain_unequal", chain.unequal);
  line.Add("chain_largest_relative", chain.largest_relative);
  const auto describe = [&](const char* name, const EqualCount& count, EqualSum which) {
    if (count.unequal == 0) return;
    line.Add(name,
             DescribeDot(tiles, count.first, sums[count.first], sums[which * dots + count.first]));
  };
  describe("mma_and_wgmma", wgmma, kByWgmma);
  describe("mma_and_moved", moved, kMoved);
  describe("mma_and_zeros", zeros, kZeros);
  describe("mma_and_chain", chain, kByChain);
  print(line.text());
  result.dots += wgmma.dots;
  result.wgmma_unequal += wgmma.unequal;
  const auto is_wrong = [&](const char* what) {
    if (result.wrong.empty()) result.wrong = std::string(NameOf(numbers)) + ": " + what;
  };
  if (numbers == EqualNumbers::kIntegers && wgmma.unequal + chain.unequal > 0) {
    is_wrong("exact sums differ, so a product is not what it should be");
  }
  if (moved.unequal > 0) is_wrong("mma.sync's sums depend on the place in the fragment");
  if (zeros.unequal > 0) is_wrong("mma.sync with B = 0 changes its accumulator");
}

rt::Result<EqualResult> RunMmaEqual(rt::Device& device, const EqualOptions& options,
                                    const Print& print) {
  const double begun = Now();
  rt::Result<rt::Stream> stream = device.OpenStream();
  if (!stream.ok()) return stream.status();
  Runner runner(device, *stream);
  EqualResult result;
  std::uint64_t seed = options.seed;
  for (const Case& c : CasesOf(options.variants)) {
    if (Now() - begun > options.seconds) {
      ++result.left_out;
      continue;
    }
    const std::uint32_t n = ColumnsOf(c.variant);
    const std::uint64_t of_tile = std::uint64_t{kEqualRows} * n;
    const auto count = static_cast<std::uint32_t>((options.dots + of_tile - 1) / of_tile);
    const EqualTiles tiles = MakeEqualTiles(c.numbers, c.k, n, count, seed++);
    rt::Result<std::vector<float>> sums = runner.Run(c, tiles);
    if (!sums.ok()) return sums.status();
    JudgeCase(c.variant, c.numbers, tiles, *sums, result, print);
  }
  JsonLine line;
  line.Add("row", "mma_equal").Add("numbers", "all").Add("dots", result.dots);
  line.Add("wgmma_unequal", result.wgmma_unequal).Add("cases_left_out", result.left_out);
  line.Add("seed", options.seed);
  if (!result.wrong.empty()) line.Add("wrong", result.wrong);
  print(line.text());
  return result;
}

}  // namespace cairn::gpu
