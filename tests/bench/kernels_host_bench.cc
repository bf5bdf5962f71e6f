// Speed of kernels/host: single operations, and the forward pass of a SmolLM2-135M-shaped model
// with random weights beside this machine's own limits (kernels_host_limits_bench.cc), measured in
// the same run. Compare ratios, not seconds, between machines. Numbers and what they mean:
// kernels/host/README.md.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "kernels/host/host_ops.h"
#include "tests/bench/kernels_host_model.h"

namespace cairn::host::bench {
namespace {

// Reports tokens/s of all runs and, for a machine shared with others, of the best run.
class Stopwatch {
 public:
  template <class Work>
  void Time(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best_seconds_ = std::min(best_seconds_, taken.count());
  }
  void Report(benchmark::State& state, double tokens) const {
    state.counters["tokens/s"] =
        benchmark::Counter(tokens, benchmark::Counter::kIsIterationInvariantRate);
    state.counters["best"] = tokens / best_seconds_;
  }

 private:
  double best_seconds_ = 1e9;
};

void BM_Prefill(benchmark::State& state, const HostOps* ops) {
  const auto tokens = static_cast<std::uint32_t>(state.range(0));
  const auto step_rows = static_cast<std::uint32_t>(state.range(1));
  Team team(static_cast<int>(state.range(2)));
  Model& model = Model::Get();  // made before the clock starts
  Activations a;
  Stopwatch watch;
  for (auto _ : state) {
    state.PauseTiming();
    a.FillX();
    state.ResumeTiming();
    watch.Time([&] {
      for (std::uint32_t first = 0; first < tokens; first += step_rows) {
        Step(*ops, model, a, team, first, std::min(step_rows, tokens - first)).Run();
      }
    });
  }
  watch.Report(state, tokens);
}

void BM_Decode(benchmark::State& state, const HostOps* ops) {
  Team team(static_cast<int>(state.range(1)));
  Activations a;
  a.FillX();
  Step step(*ops, Model::Get(), a, team, static_cast<std::uint32_t>(state.range(0)), 1);
  Stopwatch watch;
  for (auto _ : state) watch.Time([&] { step.Run(); });
  watch.Report(state, 1);
}

void BM_Gemm(benchmark::State& state, const HostOps* ops, WeightType type) {
  const auto rows = static_cast<std::uint32_t>(state.range(0));
  const Weights w(type, 1536, 576, 5);
  Activations a;
  a.FillX();
  for (auto _ : state) ops->gemm({&w.matrix(), a.x.get(), 576, rows, a.gate.get(), 1536}, 0, 96);
  state.counters["flops"] =
      benchmark::Counter(2.0 * rows * 1536 * 576, benchmark::Counter::kIsIterationInvariantRate);
}

void BM_Attend(benchmark::State& state, const HostOps* ops) {
  Model& m = Model::Get();
  const auto first = static_cast<std::uint32_t>(state.range(0)),
             rows = static_cast<std::uint32_t>(state.range(1));
  Activations a;
  a.FillX();
  Buffer<std::byte> scratch(AttentionScratchBytes(m.shape, kHeads));
  AttentionCall call = m.Attention(3, first, rows, a);
  call.q = a.x.get();
  for (auto _ : state) ops->attend(call, 1, 0, rows, scratch.get());
  double pairs = 0;
  for (std::uint32_t r = 0; r < rows; ++r) pairs += 3.0 * (first + r + 1);
  state.counters["flops"] =
      benchmark::Counter(pairs * 4 * kHeadDim, benchmark::Counter::kIsIterationInvariantRate);
}

void RegisterAll() {
  for (const HostOps* ops : RunnableHostOps()) {
    const std::string tier = std::string("/") + ops->name;
    benchmark::RegisterBenchmark(("Prefill" + tier).c_str(), BM_Prefill, ops)
        ->Args({128, 128, 2})
        ->Args({512, 512, 2})
        ->Args({512, 128, 2})
        ->Args({512, 512, 1})
        ->Args({2048, 512, 2})
        ->ArgNames({"tokens", "step", "threads"})
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("Decode" + tier).c_str(), BM_Decode, ops)
        ->Args({128, 2})
        ->Args({128, 1})
        ->Args({2048, 2})
        ->ArgNames({"depth", "threads"})
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    const std::pair<const char*, WeightType> types[] = {
        {"F32", WeightType::kF32},   {"F16", WeightType::kF16},   {"BF16", WeightType::kBf16},
        {"Q8_0", WeightType::kQ8_0}, {"Q4_0", WeightType::kQ4_0}, {"Q4_1", WeightType::kQ4_1}};
    for (const auto& [name, type] : types) {
      benchmark::RegisterBenchmark(("Gemm" + tier + "/" + name).c_str(), BM_Gemm, ops, type)
          ->Arg(1)
          ->Arg(2)
          ->Arg(3)
          ->Arg(4)
          ->Arg(5)
          ->Arg(8)
          ->Arg(16)
          ->Arg(128)
          ->Arg(512)
          ->ArgName("rows")
          ->UseRealTime();
    }
    benchmark::RegisterBenchmark(("Attend" + tier).c_str(), BM_Attend, ops)
        ->Args({128, 1})
        ->Args({2047, 1})
        ->Args({0, 512})
        ->Args({1536, 512})
        ->ArgNames({"depth", "rows"})
        ->UseRealTime();
  }
}

}  // namespace
}  // namespace cairn::host::bench

int main(int argc, char** argv) {
  cairn::host::bench::RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
