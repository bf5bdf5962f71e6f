#include "kernels/gpu/bench.h"

#include <algorithm>
#include <chrono>

#include "kernels/gpu/probe.h"

namespace cairn::gpu {
namespace {

constexpr std::uint64_t kClockNanoseconds = 100'000;
constexpr std::uint32_t kReplaysMax = 2000;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Bench::Bench(rt::Device& device, rt::Stream stream, DeviceFacts facts, rt::Buffer clock,
             rt::Buffer clock_host, Options options)
    : device_(device),
      stream_(std::move(stream)),
      facts_(std::move(facts)),
      clock_(std::move(clock)),
      clock_host_(std::move(clock_host)),
      options_(std::move(options)),
      begun_(Now()) {}

rt::Result<std::unique_ptr<Bench>> Bench::Open(rt::Device& device, const Options& options) {
  rt::Result<DeviceFacts> facts = FactsOf(device);
  if (!facts.ok()) return facts.status();
  rt::Result<rt::Stream> stream = device.OpenStream();
  if (!stream.ok()) return stream.status();
  rt::Result<rt::Buffer> clock = device.Allocate(16);
  if (!clock.ok()) return clock.status();
  rt::Result<rt::Buffer> clock_host = device.AllocatePinned(16);
  if (!clock_host.ok()) return clock_host.status();
  return std::unique_ptr<Bench>(new Bench(  // tidy: allow(new) a private constructor
      device, std::move(*stream), std::move(*facts), std::move(*clock), std::move(*clock_host),
      options));
}

bool Bench::HasTime() const { return Now() - begun_ < options_.seconds; }

std::uint32_t Bench::Sets(std::uint64_t bytes) const {
  return RotatedSets(bytes, facts_.l2_bytes, facts_.memory_bytes / 2);
}

rt::Result<double> Bench::Clock() {
  auto* passed = clock_host_.as<std::uint64_t>();
  for (rt::Status status : {ReadClock(stream_, {clock_.as<std::uint64_t>(), kClockNanoseconds}),
                            stream_.CopyAsync(passed, clock_.bytes(), 16), stream_.Synchronize()}) {
    if (!status.ok()) return status;
  }
  return passed[1] == 0 ? 0.0
                        : 1e3 * static_cast<double>(passed[0]) / static_cast<double>(passed[1]);
}

// Seconds of a batch; waits for its end.
rt::Result<double> Bench::RunBatch(const Variant& variant, rt::Graph* graph,
                                   std::uint64_t replays) {
  const double begun = Now();
  for (std::uint64_t i = 0; i < replays; ++i) {
    if (graph != nullptr) {
      if (rt::Status status = stream_.Launch(*graph); !status.ok()) return status;
      continue;
    }
    for (const Operation& run : variant.runs) {
      if (rt::Status status = run(stream_); !status.ok()) return status;
    }
  }
  // The device, not the stream: cuBLAS has a stream of its own.
  if (rt::Status status = device_.Synchronize(); !status.ok()) return status;
  return Now() - begun;
}

rt::Result<std::vector<Timing>> Bench::Time(const std::string& group,
                                            const std::vector<Variant>& variants) {
  if (!HasTime()) {
    for (const Variant& variant : variants) Say(group, variant.name, "left_out", "no time left");
    return std::vector<Timing>();
  }
  struct State {
    std::optional<rt::Graph> graph;
    std::uint32_t replays = 1;
    std::vector<double> seconds;  // of a run, a batch
  };
  std::vector<State> states(variants.size());
  std::vector<Timing> timings(variants.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    // Once without a graph: loads modules, and errors come from here.
    const Variant& variant = variants[i];
    if (rt::Result<double> first = RunBatch(variant, nullptr, 1); !first.ok()) {
      return first.status();
    }
    if (variant.is_graph) {
      if (rt::Status status = stream_.BeginCapture(); !status.ok()) return status;
      for (const Operation& run : variant.runs) {
        if (rt::Status status = run(stream_); !status.ok()) return status;
      }
      rt::Result<rt::Graph> graph = stream_.EndCapture();
      if (!graph.ok()) return graph.status();
      states[i].graph.emplace(std::move(*graph));
    }
    rt::Graph* const graph = variant.is_graph ? &*states[i].graph : nullptr;
    rt::Result<double> once = RunBatch(variant, graph, 1);
    if (!once.ok()) return once.status();
    if (options_.batch_seconds > 0) {
      states[i].replays = RunsInBatch(*once, options_.batch_seconds, kReplaysMax);
    }
  }
  for (std::uint32_t batch = 0; batch < options_.batches; ++batch) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      rt::Graph* const graph = variants[i].is_graph ? &*states[i].graph : nullptr;
      rt::Result<double> seconds = RunBatch(variants[i], graph, states[i].replays);
      if (!seconds.ok()) return seconds.status();
      const std::uint64_t runs = variants[i].runs.size() * states[i].replays;
      states[i].seconds.push_back(*seconds / static_cast<double>(runs));
      timings[i].runs += runs;
      if (batch + 1 < options_.batches) continue;
      rt::Result<double> mhz = Clock();
      if (!mhz.ok()) return mhz.status();
      timings[i].sm_mhz = *mhz;
    }
  }
  for (std::size_t i = 0; i < variants.size(); ++i) {
    timings[i].seconds = Median(states[i].seconds);
    timings[i].spread = Spread(states[i].seconds);
    std::vector<double> ratios = states[i].seconds;
    for (std::size_t b = 0; b < ratios.size(); ++b) ratios[b] /= states[0].seconds[b];
    timings[i].of_first = Median(ratios);
    PrintRow(group, variants[i], timings[i]);
  }
  return timings;
}

void Bench::PrintRow(const std::string& group, const Variant& variant, const Timing& timing) {
  const Bound bound = BoundOf(variant.work, ceilings_);
  const double bytes = variant.work.read + variant.work.written;
  JsonLine line;
  line.Add("row", group).Add("name", variant.name).Add("us", timing.seconds * 1e6);
  line.Add("spread", timing.spread).Add("runs", timing.runs);
  line.Add("sets", static_cast<std::uint64_t>(variant.runs.size())).Add("sm_mhz", timing.sm_mhz);
  line.Add("of_first", timing.of_first);
  const double moved = bytes + variant.moved;
  if (moved > 0) line.Add("gb_per_s", moved / timing.seconds * 1e-9);
  if (variant.work.flops > 0) {
    line.Add("tflop_per_s", variant.work.flops / timing.seconds * 1e-12);
  }
  if (!bound.by.empty()) {
    line.Add("bound_us", bound.seconds * 1e6).Add("bound_by", bound.by);
    line.Add("of_bound", bound.seconds / timing.seconds);
  }
  options_.print(line.text());
}

void Bench::Say(const std::string& group, const std::string& name, const char* field,
                const std::string& text) {
  JsonLine line;
  options_.print(line.Add("row", group).Add("name", name).Add(field, text).text());
}

// ---- Memory -------------------------------------------------------------------------------------

rt::Buffer Memory::Take(rt::Result<rt::Buffer> buffer) {
  if (buffer.ok()) return std::move(*buffer);
  Check(buffer.status());
  return {};
}

rt::Buffer Memory::Random(std::size_t bytes, std::uint32_t seed) {
  if (!status_.ok()) return {};
  rt::Buffer buffer = Empty(bytes);
  if (!status_.ok()) return buffer;
  const std::uint32_t blocks = bench_.facts().multiprocessors * 4;
  Check(FillRandom(bench_.stream(), {buffer.as<std::uint32_t>(), bytes / 4, seed, blocks}));
  return buffer;
}

rt::Buffer Memory::UploadBytes(const void* bytes, std::size_t size) {
  if (!status_.ok()) return {};
  rt::Buffer host = Pinned(std::max<std::size_t>(size, 4));
  rt::Buffer buffer = Empty(std::max<std::size_t>(size, 4));
  if (!status_.ok()) return buffer;
  if (size > 0) std::memcpy(host.bytes(), bytes, size);
  Check(bench_.stream().CopyAsync(buffer.bytes(), host.bytes(), size));
  Check(bench_.stream().Synchronize());  // before `host` goes
  return buffer;
}

}  // namespace cairn::gpu
