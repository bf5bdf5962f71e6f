#ifndef CAIRN_LIBS_PLACEMENT_OVERLAP_HISTOGRAM_H_
#define CAIRN_LIBS_PLACEMENT_OVERLAP_HISTOGRAM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/placement/line_problem.h"

namespace cairn::placement {

// OverlapHistogram is the published law ("Sparse Prefix Caching", arXiv 2605.05219): how deep
// requests agree with what is stored, counted by absolute depth in bins of `grid` tokens, older
// observations fading by a factor each time a new one comes.
//
// Memory: 8 bytes a bin, bins_max of them. Observe is O(1). Threads: one owner.
class OverlapHistogram {
 public:
  struct Options {
    std::uint32_t grid = 1;          // tokens a bin: bin = floor(depth / grid)
    std::uint32_t bins_max = 16384;  // 1 .. limits::kBinsMax
    double decay = 1;  // weight left of an observation when the next one comes; (0, 1]
  };
  // INVALID_ARGUMENT: an option out of bounds.
  static absl::StatusOr<OverlapHistogram> Create(const Options& options);

  // One observation of `depth` tokens. INVALID_ARGUMENT, and nothing counted: a depth beyond the
  // last bin, or a weight that is not in (0, limits::kObservationWeightMax].
  absl::Status Observe(std::uint32_t depth, double weight = 1);

  // Sets a bin to what it would hold now: to start from a stored histogram. Same errors.
  absl::Status Restore(std::uint32_t bin, double count);

  // The faded count of a bin (bins after the last one observed hold 0), and of all of them.
  double Count(std::uint32_t bin) const;
  double Total() const { return total_ / unit_; }
  std::uint32_t bins() const { return static_cast<std::uint32_t>(counts_.size()); }

  // n_eff = (sum of weights)^2 / sum of squared weights: how many equal observations it is worth.
  double EffectiveCount() const;

  // Its atoms: depth = bin, cost = bin (bin 0 resumes nowhere and is left out), weight = count in
  // 2^-20ths, rounded (limits::kWeightUnit).
  LineProblem Line() const;

 private:
  explicit OverlapHistogram(const Options& options) : options_(options) {}
  void Add(std::uint32_t bin, double weight);

  Options options_;
  std::vector<double> counts_;  // in units of 1 / unit_
  double unit_ = 1;             // grows instead of everything else shrinking
  double total_ = 0;
  double squares_ = 0;
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_OVERLAP_HISTOGRAM_H_
