// Speed of kernels/host: single operations, and the forward pass of a SmolLM2-135M-shaped model
// with random weights beside this machine's own limits, measured in the same run. Compare ratios,
// not seconds, between machines. Numbers and what they mean: kernels/host/README.md.
#include <benchmark/benchmark.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kernels/host/host_ops.h"
#include "kernels/host/rope_table.h"

namespace cairn::host {
namespace {

// Threads that run one function together, with a barrier that spins: sections last microseconds.
class Team {
 public:
  explicit Team(int size) : size_(size) {
    for (int i = 1; i < size; ++i) threads_.emplace_back([this, i] { Serve(i); });
  }
  ~Team() {
    Run({});
    for (std::thread& t : threads_) t.join();
  }
  int size() const { return size_; }
  void Run(std::function<void(int)> work) {
    work_ = std::move(work);
    Wait();
    if (work_) work_(0);
    Wait();
  }
  // Called by every member inside `work`.
  void Wait() {
    const int turn = turn_.load(std::memory_order_acquire);
    if (waiting_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
      waiting_.store(0, std::memory_order_relaxed);
      turn_.store(turn + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; turn_.load(std::memory_order_acquire) == turn; ++spins) {
      if (spins > 20000) std::this_thread::yield();
    }
  }

 private:
  void Serve(int index) {
    for (;;) {
      Wait();
      if (!work_) return Wait();
      work_(index);
      Wait();
    }
  }
  const int size_;
  std::function<void(int)> work_;
  std::atomic<int> waiting_{0};
  std::atomic<int> turn_{0};
  std::vector<std::thread> threads_;
};

template <class T>
struct Buffer {  // 64-byte aligned
  explicit Buffer(std::size_t count)
      : memory(static_cast<T*>(std::aligned_alloc(4096, (count * sizeof(T) + 4095) / 4096 * 4096)),
               &std::free) {
    std::memset(memory.get(), 0, count * sizeof(T));
  }
  T* get() const { return memory.get(); }
  std::unique_ptr<T, void (*)(void*)> memory;
};

// Random packed weights: scales small and positive, quants anything.
class Weights {
 public:
  Weights(WeightType type, std::uint32_t n, std::uint32_t k, std::uint32_t seed)
      : bytes_(PackedBytes({type, n, k, nullptr})) {
    std::mt19937 rng(seed);
    const std::size_t row_group = BytesPer32(type);
    std::vector<unsigned char> file(static_cast<std::size_t>(n) * RowBytes(type, k));
    for (std::size_t i = 0; i < file.size(); ++i) file[i] = static_cast<unsigned char>(rng());
    for (std::size_t at = 0; at < file.size() && IsQuantised(type); at += row_group) {
      const std::uint16_t d = 0x1400, m = 0x9400;  // about 0.001
      std::memcpy(&file[at], &d, 2);
      if (type == WeightType::kQ4_1) std::memcpy(&file[at + 2], &m, 2);
    }
    if (!IsQuantised(type)) std::memset(file.data(), 0, file.size());
    PackPanels({type, n, k, file.data()}, 0, PanelCount(n), bytes_.get());
    matrix_ = {type, n, k, bytes_.get()};
  }
  const PackedMatrix& matrix() const { return matrix_; }

 private:
  Buffer<std::byte> bytes_;
  PackedMatrix matrix_;
};

// ---- limits of the machine ----

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

// ---- the model ----

struct Layer {
  Weights q, k, v, o, gate, up, down;
  explicit Layer(std::uint32_t s)
      : q(WeightType::kQ4_1, 576, 576, s),
        k(WeightType::kQ4_1, 192, 576, s + 1),
        v(WeightType::kQ4_1, 192, 576, s + 2),
        o(WeightType::kQ4_1, 576, 576, s + 3),
        gate(WeightType::kQ4_1, 1536, 576, s + 4),
        up(WeightType::kQ4_1, 1536, 576, s + 5),
        down(WeightType::kQ4_1, 576, 1536, s + 6) {}
};

constexpr std::uint32_t kLayers = 30, kWidth = 576, kFfn = 1536, kHeads = 9, kKvHeads = 3,
                        kHeadDim = 64;
constexpr std::uint32_t kVocabulary = 49152, kRowsMax = 512, kTokensMax = 2560, kBlockTokens = 16;

struct Model {
  std::vector<std::unique_ptr<Layer>> layers;
  Weights head{WeightType::kQ8_0, kVocabulary, kWidth, 1};
  RopeTable rope{{.rotary_dim = 64, .max_positions = kTokensMax, .theta = 100000.0}};
  KvShape shape{kLayers, kKvHeads, kHeadDim, kBlockTokens, KvDtype::kBf16};
  Buffer<std::byte> pool{KvBlockBytes(shape) * (kTokensMax / kBlockTokens)};
  std::vector<std::byte*> blocks;
  std::vector<float> norm = std::vector<float>(kWidth, 1.0f);

  Model() {
    for (std::uint32_t i = 0; i < kLayers; ++i) layers.push_back(std::make_unique<Layer>(10 * i));
    for (std::uint32_t i = 0; i < kTokensMax / kBlockTokens; ++i)
      blocks.push_back(pool.get() + i * KvBlockBytes(shape));
  }
  static Model& Get() {
    static Model model;
    return model;
  }
};

struct Activations {
  Buffer<float> x{kRowsMax * kWidth}, normed{kRowsMax * kWidth}, q{kRowsMax * kWidth},
      k{kRowsMax * 192}, v{kRowsMax * 192}, mixed{kRowsMax * kWidth}, o{kRowsMax * kWidth},
      gate{kRowsMax * kFfn}, up{kRowsMax * kFfn}, logits{kVocabulary};
};

// One step over `rows` tokens from `first` on, all of one request; one row of logits.
class Step {
 public:
  Step(const HostOps& ops, Model& m, Activations& a, Team& team, std::uint32_t first,
       std::uint32_t rows)
      : ops_(ops),
        m_(m),
        a_(a),
        team_(team),
        first_(first),
        rows_(rows),
        scratch_bytes_(AttentionScratchBytes(m.shape, kHeads)),
        scratch_(scratch_bytes_ * static_cast<std::size_t>(team.size())),
        partials_(kHeads * 64 * PartialFloats(m.shape)) {}

  void Run() {
    team_.Run([this](int part) { RunPart(static_cast<std::size_t>(part)); });
  }

 private:
  std::size_t parts() const { return static_cast<std::size_t>(team_.size()); }
  void Multiply(std::size_t part, const Weights& w, const float* x, std::uint32_t rows, float* y) {
    const Range r = PartOf(PanelCount(w.matrix().n), part, parts(), 2);
    ops_.gemm({&w.matrix(), x, w.matrix().k, rows, y, w.matrix().n}, r.begin, r.end);
  }
  void Norm(std::size_t part) {
    const Range r = PartOf(rows_, part, parts());
    ops_.rms_norm(a_.x.get(), m_.norm.data(), 1e-5f, kWidth, a_.normed.get(),
                  static_cast<std::uint32_t>(r.begin), static_cast<std::uint32_t>(r.end));
  }
  void AddRows(std::size_t part) {
    const Range r = PartOf(rows_, part, parts());
    ops_.add(a_.x.get() + r.begin * kWidth, a_.o.get() + r.begin * kWidth,
             (r.end - r.begin) * kWidth);
  }
  void Attend(std::size_t part, std::uint32_t layer) {
    const AttentionCall call{.shape = &m_.shape,
                             .rope = &m_.rope.view(),
                             .layer = layer,
                             .q_heads = kHeads,
                             .first_row = first_,
                             .own_blocks = m_.blocks.data(),
                             .rows = rows_,
                             .q = a_.q.get(),
                             .q_stride = kWidth,
                             .out = a_.mixed.get(),
                             .out_stride = kWidth};
    std::byte* scratch = scratch_.get() + part * scratch_bytes_;
    if (rows_ == 1) {
      const std::size_t splits = SplitCount(call);
      for (std::size_t item = part; item < kKvHeads * splits; item += parts()) {
        const std::size_t split = item / kKvHeads;
        ops_.attend_splits(call, item % kKvHeads, split, split + 1, scratch, partials_.get());
      }
      team_.Wait();
      for (std::size_t h = part; h < kKvHeads; h += parts())
        ops_.fold_splits(call, static_cast<std::uint32_t>(h), partials_.get());
      return;
    }
    const std::uint32_t groups = (rows_ + 63) / 64;
    for (;;) {  // the longest rows first
      const std::uint32_t item = next_.fetch_add(1);
      if (item >= kKvHeads * groups) return;
      const std::uint32_t g = groups - 1 - item / kKvHeads;
      ops_.attend(call, item % kKvHeads, g * 64, std::min(rows_, g * 64 + 64), scratch);
    }
  }
  void RunPart(std::size_t part) {
    for (std::uint32_t l = 0; l < kLayers; ++l) {
      const Layer& w = *m_.layers[l];
      Norm(part);
      team_.Wait();
      Multiply(part, w.q, a_.normed.get(), rows_, a_.q.get());
      Multiply(part, w.k, a_.normed.get(), rows_, a_.k.get());
      Multiply(part, w.v, a_.normed.get(), rows_, a_.v.get());
      if (part == 0) next_ = 0;
      team_.Wait();
      for (std::size_t r = part; r < rows_; r += parts()) {
        const std::uint32_t token = first_ + static_cast<std::uint32_t>(r);
        ops_.store_kv({&m_.shape, l, token % kBlockTokens, m_.blocks[token / kBlockTokens],
                       a_.k.get() + r * 192, a_.v.get() + r * 192});
      }
      team_.Wait();
      Attend(part, l);
      team_.Wait();
      Multiply(part, w.o, a_.mixed.get(), rows_, a_.o.get());
      team_.Wait();
      AddRows(part);
      Norm(part);
      team_.Wait();
      Multiply(part, w.gate, a_.normed.get(), rows_, a_.gate.get());
      Multiply(part, w.up, a_.normed.get(), rows_, a_.up.get());
      const Range r = PartOf(PanelCount(kFfn), part, parts(), 2);  // this thread's own columns
      for (std::uint32_t row = 0; row < rows_; ++row) {
        float* gate = a_.gate.get() + static_cast<std::size_t>(row) * kFfn + r.begin * 16;
        ops_.swiglu(gate, a_.up.get() + static_cast<std::size_t>(row) * kFfn + r.begin * 16, gate,
                    (r.end - r.begin) * 16);
      }
      team_.Wait();
      Multiply(part, w.down, a_.gate.get(), rows_, a_.o.get());
      team_.Wait();
      AddRows(part);
    }
    team_.Wait();
    if (part == 0)
      ops_.rms_norm(a_.x.get(), m_.norm.data(), 1e-5f, kWidth, a_.normed.get(), rows_ - 1, rows_);
    team_.Wait();
    Multiply(part, m_.head, a_.normed.get() + (rows_ - 1) * kWidth, 1, a_.logits.get());
    team_.Wait();
    if (part == 0) benchmark::DoNotOptimize(ops_.argmax(a_.logits.get(), kVocabulary));
  }

  const HostOps& ops_;
  Model& m_;
  Activations& a_;
  Team& team_;
  std::uint32_t first_, rows_;
  std::size_t scratch_bytes_;
  Buffer<std::byte> scratch_;
  Buffer<float> partials_;
  std::atomic<std::uint32_t> next_{0};
};

void FillActivations(Activations& a) {
  std::mt19937 rng(1);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < kRowsMax * kWidth; ++i) a.x.get()[i] = normal(rng);
}

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
    FillActivations(a);
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
  FillActivations(a);
  Step step(*ops, Model::Get(), a, team, static_cast<std::uint32_t>(state.range(0)), 1);
  Stopwatch watch;
  for (auto _ : state) watch.Time([&] { step.Run(); });
  watch.Report(state, 1);
}

void BM_Gemm(benchmark::State& state, const HostOps* ops, WeightType type) {
  const auto rows = static_cast<std::uint32_t>(state.range(0));
  const Weights w(type, 1536, 576, 5);
  Activations a;
  FillActivations(a);
  for (auto _ : state) ops->gemm({&w.matrix(), a.x.get(), 576, rows, a.gate.get(), 1536}, 0, 96);
  state.counters["flops"] =
      benchmark::Counter(2.0 * rows * 1536 * 576, benchmark::Counter::kIsIterationInvariantRate);
}

void BM_Attend(benchmark::State& state, const HostOps* ops) {
  Model& m = Model::Get();
  const auto first = static_cast<std::uint32_t>(state.range(0)),
             rows = static_cast<std::uint32_t>(state.range(1));
  Activations a;
  FillActivations(a);
  Buffer<std::byte> scratch(AttentionScratchBytes(m.shape, kHeads));
  const AttentionCall call{.shape = &m.shape,
                           .rope = &m.rope.view(),
                           .layer = 3,
                           .q_heads = kHeads,
                           .first_row = first,
                           .own_blocks = m.blocks.data(),
                           .rows = rows,
                           .q = a.x.get(),
                           .q_stride = kWidth,
                           .out = a.mixed.get(),
                           .out_stride = kWidth};
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
}  // namespace cairn::host

int main(int argc, char** argv) {
  cairn::host::RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
