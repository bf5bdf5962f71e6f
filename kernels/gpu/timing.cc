#include "kernels/gpu/timing.h"

#include <algorithm>

#include "kernels/gpu/cublas.h"
#include "kernels/gpu/probe.h"

namespace cairn::gpu {

Sizes Sizes::Real() {
  return {.stream_bytes = std::uint64_t{1} << 30,
          .product_rounds = 2000,
          .matmul = 8192,
          .decode = {{32, 4096, 32, 8, 128}, {1, 4096, 32, 8, 128}, {8, 32768, 32, 8, 128}},
          .prefill = {8192, 2048, 32, 8, 128},
          .gemms = {{1, 4096, 4096},
                    {32, 4096, 4096},
                    {32, 28672, 4096},
                    {64, 4096, 14336},
                    {2048, 4096, 4096},
                    {2048, 28672, 4096},
                    {8192, 8192, 8192}},
          .rows = {4096, 14336, 128256, 32, 8, 128, 16, {64, 2048}},  // Llama-3-8B
          .checksum_block = 2 << 20,
          .gather_bytes = 64 << 20,
          .gather_blocks = {16 << 10, 128 << 10, 2 << 20},
          .copies = {4 << 10, 16 << 10, 28 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20,
                     64 << 20}};
}

Sizes Sizes::Tiny() {
  return {.stream_bytes = 64 << 10,
          .product_rounds = 2,
          .matmul = 64,
          .decode = {{2, 100, 4, 2, 64}},
          .prefill = {96, 40, 2, 1, 64},
          .gemms = {{3, 128, 64}, {70, 128, 64}},
          .rows = {64, 96, 300, 2, 2, 64, 16, {3, 40}},
          .checksum_block = 8 << 10,
          .gather_bytes = 32 << 10,
          .gather_blocks = {4 << 10},
          .copies = {4 << 10, 64 << 10}};
}

namespace {

rt::Status TimeMemory(Bench& bench, const Sizes& sizes) {
  Memory memory(bench);
  const std::uint64_t bytes = sizes.stream_bytes;
  const rt::Buffer source = memory.Random(2 * bytes, 11), target = memory.Empty(bytes);
  const rt::Buffer sink = memory.Empty(4);
  if (!memory.status().ok()) return memory.status();
  const std::uint32_t blocks = bench.facts().multiprocessors * 4;
  Variant read{.name = "read, streaming", .work = {.read = static_cast<double>(bytes)}};
  for (const std::uint64_t first : {std::uint64_t{0}, bytes}) {
    read.runs.push_back([&, first](rt::Stream& stream) {
      return ReadAll(stream, {source.bytes() + first, bytes, sink.as<std::uint32_t>(), blocks});
    });
  }
  rt::Result<std::vector<Timing>> timings = bench.Time("ceiling", {read});
  if (!timings.ok()) return timings.status();
  const auto rate = [](double amount, const Timing& timing) { return amount / timing.seconds; };
  if (!timings->empty()) bench.ceilings().read = rate(read.work.read, (*timings)[0]);

  const Work both{.read = static_cast<double>(bytes), .written = static_cast<double>(bytes)};
  Variant copy{.name = "copy, own kernel", .work = both};
  Variant engine{.name = "copy, cudaMemcpyAsync", .work = both};
  for (const std::uint64_t first : {std::uint64_t{0}, bytes}) {
    copy.runs.push_back([&, first](rt::Stream& stream) {
      return CopyAll(stream, {source.bytes() + first, target.bytes(), bytes, blocks});
    });
    engine.runs.push_back([&, first](rt::Stream& stream) {
      return stream.CopyAsync(target.bytes(), source.bytes() + first, bytes);
    });
  }
  timings = bench.Time("ceiling", {copy, engine});
  if (!timings.ok()) return timings.status();
  for (const Timing& timing : *timings) {
    bench.ceilings().copy = std::max(bench.ceilings().copy, rate(2.0 * bytes, timing));
  }
  return rt::Status();
}

rt::Status TimeProducts(Bench& bench, const Sizes& sizes) {
  Memory memory(bench);
  const std::uint32_t sms = bench.facts().multiprocessors;
  const rt::Buffer sums = memory.Empty(std::size_t{sms} * 2 * kProductThreads * sizeof(float));
  if (!memory.status().ok()) return memory.status();
  const ProductParams mma{sums.as<float>(), sizes.product_rounds, sms * 2};
  const ProductParams wgmma{sums.as<float>(), sizes.product_rounds, sms};
  const std::vector<Variant> variants = {
      {.name = "wgmma m64n256k16, bare loop",
       .runs = {[&](rt::Stream& stream) { return RunWgmma(stream, wgmma); }},
       .work = {.flops = WgmmaFlops(wgmma)}},
      {.name = "mma.sync m16n8k16, bare loop",
       .runs = {[&](rt::Stream& stream) { return RunMma(stream, mma); }},
       .work = {.flops = MmaFlops(mma)}}};
  rt::Result<std::vector<Timing>> timings = bench.Time("ceiling", variants);
  if (!timings.ok()) return timings.status();
  for (std::size_t i = 0; i < timings->size(); ++i) {
    const double flops = variants[i].work.flops / (*timings)[i].seconds;
    bench.ceilings().flops = std::max(bench.ceilings().flops, flops);
  }
  return rt::Status();
}

rt::Status TimeCublas(Bench& bench, const Sizes& sizes, const std::string& path) {
  rt::Result<std::unique_ptr<Cublas>> cublas = Cublas::Open(path);
  if (!cublas.ok()) {
    bench.Say("ceiling", "matmul, cuBLAS", "left_out", cublas.status().message());
    return rt::Status();
  }
  Memory memory(bench);
  const std::uint32_t n = sizes.matmul;
  const std::size_t bytes = std::size_t{n} * n * 2;
  const rt::Buffer x = memory.Random(bytes, 1), w = memory.Random(bytes, 2);
  const rt::Buffer y = memory.Empty(bytes);
  memory.Check(bench.stream().Synchronize());
  if (!memory.status().ok()) return memory.status();
  Variant variant{.name = "matmul, cuBLAS (" + (*cublas)->name() + ")",
                  .work = {.flops = 2.0 * n * n * n},
                  .is_graph = false};
  variant.runs = {[&](rt::Stream&) {
    return (*cublas)->Multiply(x.as<std::uint16_t>(), w.as<std::uint16_t>(), y.as<std::uint16_t>(),
                               n, n, n);
  }};
  rt::Result<std::vector<Timing>> timings = bench.Time("ceiling", {variant});
  if (!timings.ok()) return timings.status();
  for (const Timing& timing : *timings) {
    bench.ceilings().flops = std::max(bench.ceilings().flops, variant.work.flops / timing.seconds);
  }
  return rt::Status();
}

}  // namespace

rt::Status TimeCeilings(Bench& bench, const Sizes& sizes, const std::string& cublas_path) {
  if (rt::Status status = TimeMemory(bench, sizes); !status.ok()) return status;
  if (rt::Status status = TimeProducts(bench, sizes); !status.ok()) return status;
  return TimeCublas(bench, sizes, cublas_path);
}

std::string TimeAll(Bench& bench, const Sizes& sizes, const std::string& cublas_path) {
  std::string wrong;
  const auto note = [&](const char* group, const rt::Status& status) {
    if (status.ok()) return;
    bench.Say(group, "all", "failed", status.message());
    wrong += (wrong.empty() ? "" : "; ") + std::string(group) + ": " + status.message();
  };
  note("ceiling", TimeCeilings(bench, sizes, cublas_path));
  note("decode", TimeDecode(bench, sizes.decode[0]));
  for (std::size_t i = 1; i < sizes.decode.size(); ++i) {
    note("decode", TimeDecode(bench, sizes.decode[i]));
  }
  note("prefill", TimePrefill(bench, sizes.prefill));
  note("gemm", TimeGemms(bench, sizes, cublas_path));
  note("rows", TimeRows(bench, sizes.rows));
  note("copy", TimeCopies(bench, sizes));
  note("host copy", TimeHostCopies(bench, sizes));
  return wrong;
}

}  // namespace cairn::gpu
