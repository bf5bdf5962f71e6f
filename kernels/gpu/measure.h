#ifndef CAIRN_KERNELS_GPU_MEASURE_H_
#define CAIRN_KERNELS_GPU_MEASURE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The arithmetic of measurements, without a GPU: medians, bounds, how buffers are rotated, and the
// lines of JSON that programs hand to tools/gpu-check.

namespace cairn::gpu {

// Of an even number of values the mean of the two in the middle; 0 of none.
double Median(std::vector<double> values);
// (largest - smallest) / median; 0 where that means nothing.
double Spread(const std::vector<double>& values);

// What this GPU reached in this run, per second; 0: not measured.
struct Ceilings {
  double read = 0;   // bytes that are only read
  double copy = 0;   // bytes read plus bytes written, of a copy
  double flops = 0;  // of products: the best of cuBLAS and the bare loops
};

// What one run of an operation must do at least: each input read once, each output written once.
struct Work {
  double read = 0;
  double written = 0;
  double flops = 0;
};

// The least time that work takes, and what sets it: "bytes", "flops", or "" where no ceiling is
// known. Bytes go at the copy's rate where a fifth or more of them are written, else at the read's.
struct Bound {
  double seconds = 0;
  std::string_view by;
};
Bound BoundOf(const Work& work, const Ceilings& ceilings);

// How many sets of buffers of `set_bytes` to go round in, so that a set has left the L2 before its
// turn comes again: more than four times the L2 in all, at least two, and no more than fit into
// `room_bytes` (but always one).
std::uint32_t RotatedSets(std::uint64_t set_bytes, std::uint64_t l2_bytes,
                          std::uint64_t room_bytes);

// How many runs of `seconds` each make a batch of `wanted` seconds: 1 to `most`.
std::uint32_t RunsInBatch(double seconds, double wanted, std::uint32_t most);

// A tile's slots in an order that neighbours in memory do not share: i -> i * step % count, step
// and count without a common divisor.
std::vector<std::uint32_t> ScatteredSlots(std::uint32_t count);

// One object of JSON in one line.
class JsonLine {
 public:
  JsonLine& Add(std::string_view name, std::string_view value);
  JsonLine& Add(std::string_view name, const char* value) {
    return Add(name, std::string_view(value));
  }
  JsonLine& Add(std::string_view name, double value);  // null where it is not finite
  JsonLine& Add(std::string_view name, std::uint64_t value);
  JsonLine& Add(std::string_view name, std::uint32_t value) {
    return Add(name, std::uint64_t{value});
  }
  JsonLine& Add(std::string_view name, bool value);
  std::string text() const { return text_ + "}"; }

 private:
  void AddName(std::string_view name);
  void AddString(std::string_view value);
  std::string text_ = "{";
};

}  // namespace cairn::gpu

#endif  // CAIRN_KERNELS_GPU_MEASURE_H_
