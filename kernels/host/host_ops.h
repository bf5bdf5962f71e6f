#ifndef CAIRN_KERNELS_HOST_HOST_OPS_H_
#define CAIRN_KERNELS_HOST_HOST_OPS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/host/attention_call.h"
#include "kernels/host/weights.h"

// The CPU kernels of the inference worker, behind one table of functions for each instruction set.

namespace cairn::host {

// y[r][n] = sum over k of x[r][k] * W[n][k]: for every (r, n) one chain of fused (plain tier:
// multiply, then add) operations from +0 in ascending k, on the exactly dequantised weight.
struct GemmCall {
  const PackedMatrix* weights = nullptr;
  const float* x = nullptr;  // [rows][weights->k], row stride x_stride floats
  std::size_t x_stride = 0;
  std::uint32_t rows = 0;
  float* y = nullptr;  // [rows][weights->n], row stride y_stride floats; must not overlap x
  std::size_t y_stride = 0;
};

// K and V of one token at one layer, before rotation, on their way into a block.
struct StoreKvCall {
  const KvShape* shape = nullptr;
  std::uint32_t layer = 0;
  std::uint32_t slot = 0;  // in the block
  std::byte* block = nullptr;
  const float* k = nullptr;  // [kv_heads][head_dim]
  const float* v = nullptr;
};

// HostOps is one tier: all kernels compiled for one instruction set.
//
// Bits: a tier's results depend on the values only: never on the number of rows in a call, on the
// range that a call covers, on threads, on B, or on where a block lies. Tiers differ from each
// other in the last bits, so `numerics` names the tier in the model's identity; one process uses
// one tier.
//
// Threads: every function may run on many threads at once; calls that write one output must cover
// disjoint ranges. Nothing allocates, blocks, locks or throws.
//
// Pointers need float alignment only, unless said otherwise.
struct HostOps {
  const char* name;      // "plain", "avx2": what SelectHostOps takes
  const char* numerics;  // name and version of the arithmetic; goes into the identity's `numerics`

  // Columns of panels [begin, end) of y; PanelCount(n) panels in all. Ranges may be cut anywhere
  // (even boundaries are faster for rows <= 3).
  void (*gemm)(const GemmCall& call, std::size_t panel_begin, std::size_t panel_end);

  // out[r][i] = x[r][i] / sqrt(mean(x[r]^2) + eps) * weight[i], rows [begin, end); out may be x.
  void (*rms_norm)(const float* x, const float* weight, float eps, std::uint32_t width, float* out,
                   std::uint32_t row_begin, std::uint32_t row_end);

  // out[i] = gate[i] / (1 + exp(-gate[i])) * up[i]; out may be gate or up.
  void (*swiglu)(const float* gate, const float* up, float* out, std::size_t count);

  // out[i] = exp(x[i]) for x <= 88.37 (above: exp(88.37)); under 2^-126 the answer is 0. At most 1
  // ulp off (plain tier 1.5); exp(0) = 1. What softmax and SwiGLU use, and what a sampler should.
  // out may be x.
  void (*exp)(const float* x, float* out, std::size_t count);

  // sum[i] += x[i].
  void (*add)(float* sum, const float* x, std::size_t count);

  // Index of the largest value, the lowest one on a tie. NaN never wins; 0 if nothing does.
  std::uint32_t (*argmax)(const float* x, std::uint32_t count);

  // Rounds (to nearest, ties to even; NaN stays NaN) and stores one token's K and V for all heads.
  void (*store_kv)(const StoreKvCall& call);

  // Whole attention of rows [row_begin, row_end) for the query heads of `kv_head`. Rows are done 64
  // at a time, each group reading every key once: cut rows in multiples of 64 where you can.
  // `scratch`: AttentionScratchBytes(), 64-byte aligned, one for each thread.
  void (*attend)(const AttentionCall& call, std::uint32_t kv_head, std::uint32_t row_begin,
                 std::uint32_t row_end, std::byte* scratch);

  // The same in two steps, for a long decode on several threads: partial results of splits
  // [split_begin, split_end) of SplitCount(call) for all rows of the call, then, once those of all
  // splits are there, the fold that writes `out`. Bits equal to attend's. rows <= 64.
  // `partials`: PartialsFloats(call) floats, 64-byte aligned, for the whole call.
  void (*attend_splits)(const AttentionCall& call, std::uint32_t kv_head, std::size_t split_begin,
                        std::size_t split_end, std::byte* scratch, float* partials);
  void (*fold_splits)(const AttentionCall& call, std::uint32_t kv_head, const float* partials);

  // For tests and for keeping rotated copies: rotates one head's `head_dim` floats for a position;
  // out may be x.
  void (*rotate)(const RopeView& rope, std::uint32_t position, const float* x,
                 std::uint32_t head_dim, float* out);
};

// The named tier, or for "auto" the fastest that this CPU runs. Null: no such tier, or the CPU
// lacks it.
const HostOps* SelectHostOps(std::string_view name);

// Every tier that this CPU runs, slowest first ("plain" always).
std::vector<const HostOps*> RunnableHostOps();

// Names of all tiers built in, runnable here or not (for messages and for tests to print skips).
std::vector<std::string_view> HostOpsNames();

// Part `part` of `parts` nearly equal ranges of [0, count), boundaries on multiples of `step`.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};
constexpr Range PartOf(std::size_t count, std::size_t part, std::size_t parts,
                       std::size_t step = 1) {
  const std::size_t steps = (count + step - 1) / step;
  const std::size_t begin = steps * part / parts * step;
  const std::size_t end = steps * (part + 1) / parts * step;
  return Range{begin < count ? begin : count, end < count ? end : count};
}

}  // namespace cairn::host
#endif  // CAIRN_KERNELS_HOST_HOST_OPS_H_
