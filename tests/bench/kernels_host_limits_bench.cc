// This machine's own limits, to compare with: multiplications in a bare loop, and reading memory.
#include <benchmark/benchmark.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdint>

#include "kernels/host/host_ops.h"
#include "tests/bench/kernels_host_team.h"

namespace cairn::host::bench {
namespace {

#if defined(__x86_64__)
__attribute__((target("avx2,fma"), noinline)) float FmaLoop(long steps) {
  __m256 a[12];
  for (__m256& x : a) x = _mm256_set1_ps(1e-3f);
  const __m256 b = _mm256_set1_ps(0.999f), c = _mm256_set1_ps(1e-3f);
  for (long i = 0; i < steps; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < 12; ++j) a[j] = _mm256_fmadd_ps(a[j], b, c);
  }
  __m256 sum = a[0];
  for (int j = 1; j < 12; ++j) sum = _mm256_add_ps(sum, a[j]);
  return _mm256_cvtss_f32(sum);
}

void BM_FmaPeakAvx2(benchmark::State& state) {
  if (SelectHostOps("avx2") == nullptr) return state.SkipWithError("no AVX2");
  Team team(static_cast<int>(state.range(0)));
  constexpr long kSteps = 2'000'000;
  for (auto _ : state) team.Run([](int) { benchmark::DoNotOptimize(FmaLoop(kSteps)); });
  state.counters["flops"] =
      benchmark::Counter(static_cast<double>(kSteps * 12 * 16 * state.range(0)),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_FmaPeakAvx2)->Arg(1)->Arg(2)->UseRealTime();
#endif

void BM_Read(benchmark::State& state) {
  Team team(static_cast<int>(state.range(0)));
  const std::size_t bytes = 512u << 20;
  Buffer<std::uint64_t> memory(bytes / 8);
  for (auto _ : state) {
    team.Run([&](int i) {
      const std::size_t part = bytes / 8 / static_cast<std::size_t>(team.size());
      const std::uint64_t* p = memory.get() + part * static_cast<std::size_t>(i);
      std::uint64_t s[8] = {};
      for (std::size_t at = 0; at < part; at += 8) {
        for (std::size_t j = 0; j < 8; ++j) s[j] += p[at + j];
      }
      for (std::uint64_t x : s) benchmark::DoNotOptimize(x);
    });
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
}
BENCHMARK(BM_Read)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
}  // namespace cairn::host::bench
