#ifndef CAIRN_KERNELS_TEST_LINEAR_WORLD_H_
#define CAIRN_KERNELS_TEST_LINEAR_WORLD_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "kernels/linear/packed.h"
#include "kernels/test/device_memory.h"
#include "kernels/test/random_matrix.h"

// Products y = x W^T for tests: random operands, each kernel run over them on a device, and what
// holds of the rows that come out, whichever kernel made them.

namespace cairn::test {

struct LinearCase {
  std::uint32_t n, k, rows, rows_max;
  std::uint32_t sm_count = 132;  // of MultiplyPacked's grid
};

// Multiply, MultiplySimply, MultiplyPacked, MultiplyPackedSimply.
enum class LinearWay { kMma, kMmaSimple, kPacked, kPackedSimple };

struct LinearRun {
  Matrix x, w;
  LinearCase shape;
  LinearWay way;
  kernels::LinearOutput output = kernels::LinearOutput::kF32;
  std::uint64_t seed = 1;  // of the schedule
};
LinearRun MakeRun(LinearWay way, const LinearCase& shape, std::uint64_t seed);

// A product's buffers on a device: x has NaN in the rows behind the counted ones, y a guard behind
// its rows, and partial sums and packed weights begin as NaN.
class LinearProduct {
 public:
  // `before`: what y holds, for kAddF32. `run` outlives this.
  LinearProduct(const LinearRun& run, std::vector<float> before);
  rt::Stream& stream() { return device_.stream(); }
  TestDevice& device() { return device_; }
  const rt::Buffer& count() const { return count_; }

  void Multiply();
  // Of the first `rows` rows, widened; what is behind them must be as it was.
  std::vector<float> ReadRows(std::uint32_t rows);

 private:
  const LinearRun& run_;
  TestDevice device_;
  rt::Buffer x_, w_, packed_, y_, count_, partials_;
  kernels::PackedLinearParams params_;
};

std::vector<float> YOf(const LinearRun& run, std::vector<float> before = {});
std::vector<float> YBy(LinearWay way, LinearRun run);

// y is x W^T in double, but for one rounding of each addition.
void ExpectProductInDouble(const LinearRun& run, const std::vector<float>& y);
// The last rows of `all`, the last first, in grids for so many rows at most, and of other sizes,
// have the bits that they have among all.
void ExpectRowsKeepTheirBits(const LinearRun& all, std::initializer_list<std::uint32_t> rows_max);
// By each way bf16 is f32's y, rounded, and adding is one addition of it.
void ExpectEveryOutput(LinearRun run, std::initializer_list<LinearWay> ways);

}  // namespace cairn::test

#endif  // CAIRN_KERNELS_TEST_LINEAR_WORLD_H_
