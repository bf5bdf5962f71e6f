#include "kernels/gpu/cublas.h"
#include "kernels/gpu/timing.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/packed.h"

namespace cairn::gpu {
namespace {

struct Set {
  rt::Buffer x, w, packed, y;
};

// The same product with W packed.
kernels::PackedLinearParams Packed(const kernels::LinearParams& params, const Set& set,
                                   std::uint32_t sm_count) {
  kernels::PackedLinearParams packed;
  packed.x = params.x;
  packed.packed = set.packed.as<std::uint16_t>();
  packed.y = params.y;
  packed.n = params.n;
  packed.k = params.k;
  packed.output = params.output;
  packed.row_count = params.row_count;
  packed.rows_max = params.rows_max;
  packed.partials = params.partials;
  packed.sm_count = sm_count;
  return packed;
}

rt::Status TimeGemm(Bench& bench, const GemmSize& size, Cublas* cublas) {
  const std::string group = "gemm " + std::to_string(size.rows) + " x " + std::to_string(size.n) +
                            " x " + std::to_string(size.k);
  Memory memory(bench);
  const std::size_t x_bytes = std::size_t{size.rows} * size.k * 2;
  const std::size_t w_bytes = std::size_t{size.n} * size.k * 2;
  const std::size_t y_bytes = std::size_t{size.rows} * size.n * 2;
  std::vector<Set> sets(bench.Sets(x_bytes + w_bytes + y_bytes));
  std::uint32_t seed = 300;
  for (Set& set : sets) {
    set.x = memory.Random(x_bytes, seed++);
    set.w = memory.Random(w_bytes, seed++);
    set.packed = memory.Empty(kernels::PackedWeightsBytes(size.n, size.k));
    set.y = memory.Empty(y_bytes);
  }
  const rt::Buffer row_count = memory.Upload(std::vector<std::uint32_t>{size.rows});
  const std::size_t partial_bytes = kernels::LinearPartialsBytes(size.n, size.k, size.rows);
  const rt::Buffer partials = memory.Empty(partial_bytes == 0 ? 4 : partial_bytes);
  if (!memory.status().ok()) return memory.status();
  for (const Set& set : sets) {
    const kernels::PackParams pack{set.w.as<std::uint16_t>(), set.packed.as<std::uint16_t>(),
                                   size.n, size.k};
    memory.Check(kernels::PackWeights(bench.stream(), pack));
  }
  memory.Check(bench.stream().Synchronize());
  if (!memory.status().ok()) return memory.status();
  const Work work{.read = static_cast<double>(x_bytes + w_bytes),
                  .written = static_cast<double>(y_bytes),
                  .flops = 2.0 * size.rows * size.n * size.k};
  Variant own{.name = "Multiply (mma.sync)", .work = work};
  Variant packed{.name = "MultiplyPacked (wgmma)", .work = work};
  Variant other{.name = "cuBLAS", .work = work, .is_graph = false};
  for (const Set& set : sets) {
    kernels::LinearParams params;
    params.x = set.x.as<std::uint16_t>();
    params.w = set.w.as<std::uint16_t>();
    params.y = set.y.bytes();
    params.n = size.n;
    params.k = size.k;
    params.output = kernels::LinearOutput::kBf16;
    params.row_count = row_count.as<std::uint32_t>();
    params.rows_max = size.rows;
    params.partials = partials.as<float>();
    own.runs.push_back([params](rt::Stream& stream) { return Multiply(stream, params); });
    const kernels::PackedLinearParams wgmma = Packed(params, set, bench.facts().multiprocessors);
    packed.runs.push_back([wgmma](rt::Stream& stream) { return MultiplyPacked(stream, wgmma); });
    other.runs.push_back([cublas, params](rt::Stream&) {
      return cublas->Multiply(params.x, params.w, static_cast<std::uint16_t*>(params.y),
                              params.rows_max, params.n, params.k);
    });
  }
  std::vector<Variant> variants = {own, packed};
  if (cublas != nullptr) variants.push_back(other);
  return bench.Time(group, variants).status();
}

}  // namespace

rt::Status TimeGemms(Bench& bench, const Sizes& sizes, const std::string& cublas_path) {
  rt::Result<std::unique_ptr<Cublas>> cublas = Cublas::Open(cublas_path);  // said by the ceilings
  for (const GemmSize& size : sizes.gemms) {
    rt::Status status = TimeGemm(bench, size, cublas.ok() ? cublas->get() : nullptr);
    if (!status.ok()) return status;
  }
  return rt::Status();
}

}  // namespace cairn::gpu
