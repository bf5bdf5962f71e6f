#ifndef CAIRN_KERNELS_HOST_ROPE_TABLE_H_
#define CAIRN_KERNELS_HOST_ROPE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/host/attention_call.h"
#include "kernels/host/exact_trig.h"

namespace cairn::host {

// RopeTable holds cos and sin of p * theta^(-2j/rotary_dim) for every position p and pair j.
//
// Angles and their sine and cosine are computed in double-double and double with this library's own
// code (no libm: its code differs by CPU), then rounded once to float: error <= 0.5001 ulp of
// float. The bits are the same on every machine; hash() is part of the model's `numerics`.
//
// Threads: immutable once built.
class RopeTable {
 public:
  struct Options {
    std::uint32_t rotary_dim = 0;     // even, > 0
    std::uint32_t max_positions = 0;  // rows: positions 0 .. max_positions - 1; at most 2^24
    double theta = 10000.0;           // base of the frequencies, >= 1
    RotaryLayout layout = RotaryLayout::kAdjacent;
    // Scaling: frequency j is divided by linear_scale and by frequency_divisors[j]
    // (rotary_dim/2 floats: GGUF's rope_freqs.weight of Llama-3; null = none).
    double linear_scale = 1.0;
    const float* frequency_divisors = nullptr;
  };
  // Options out of range are the caller's bug (check a model's header first with Valid).
  explicit RopeTable(const Options& options);
  static bool Valid(const Options& options);

  // What the kernels take. Lives as long as this.
  const RopeView& view() const { return view_; }
  // FNV-1a (64 bits) over every cos and sin as little-endian float, pair by pair, and the layout.
  std::uint64_t hash() const { return hash_; }

 private:
  void Put(std::uint32_t pair, std::uint32_t run, std::uint32_t at, const exact::SinCos& value);

  std::unique_ptr<float[]> values_;
  RopeView view_;
  std::uint64_t hash_ = 0;
};

}  // namespace cairn::host
#endif  // CAIRN_KERNELS_HOST_ROPE_TABLE_H_
