#ifndef CAIRN_LIBS_PLACEMENT_RATE_TABLE_H_
#define CAIRN_LIBS_PLACEMENT_RATE_TABLE_H_

#include <cstdint>
#include <vector>

#include "libs/base/bytes.h"

namespace cairn::placement {

// How often entries are claimed at each distance from their end, per entry and position: claims
// over exposures, so that entries nobody came back to count. Distances are exact up to 7 and then
// in bins that grow by three tenths, within which positions are alike.
//
// A rate is a Poisson rate with a gamma prior, that is (claims + k prior) / (exposures + k): with
// no observations it is the prior, and each observation is worth 1 / k of it. Laws are stacked by
// it: the pooled law's rate is the prior of a class of entries, that one's the prior of a family.
//
// Threads: one owner. Memory: two doubles a bin.
class RateTable {
 public:
  // Weight left of what was counted each time a claim comes; in (0, 1], 1 forgets nothing.
  explicit RateTable(double decay = 1) : decay_(decay) {}

  // `weight`: it stands for so many.
  void Claim(std::uint32_t distance, double weight = 1);
  // An entry in which states can stand at distances 0 .. positions - 1.
  void Expose(std::uint32_t positions, double weight = 1);
  double Rate(std::uint32_t distance, double prior, double prior_exposures) const;
  // Claims of all distances, faded, and entries exposed.
  double Claims() const { return claims_total_ / unit_; }
  double Exposures() const { return exposed_ / unit_; }
  // (sum of weights)^2 / sum of squared weights, of claims: how many unfaded ones they are worth.
  double EffectiveClaims() const;
  // What one bin of distances has counted, faded; bins from bins() on hold nothing.
  std::uint32_t bins() const { return static_cast<std::uint32_t>(bins_.size()); }
  double ClaimsIn(std::uint32_t bin) const { return bins_[bin].claims / unit_; }
  double PositionsIn(std::uint32_t bin) const { return bins_[bin].positions / unit_; }
  // The largest difference of the two tables' distributions of claims (Kolmogorov's), 0..1.
  double LargestGap(const RateTable& other) const;
  // The same counts, which fade by `decay` from now on.
  RateTable WithDecay(double decay) const;
  // Nothing counted; memory and decay stay.
  void Clear();

  // The counts as bytes, and back into a table of the same decay. Load leaves the reader marked bad
  // if that is nothing that Save wrote; the table is then of no use, but does no harm.
  void Save(ByteWriter& out) const;
  void Load(ByteReader& in);

 private:
  struct Bin {
    double claims = 0;
    double positions = 0;
  };
  void Rescale();

  double decay_;
  double unit_ = 1;  // grows instead of everything else shrinking
  double claims_total_ = 0;
  double claims_squared_ = 0;
  double exposed_ = 0;
  std::vector<Bin> bins_;
};

// The bin of a distance, and the distances of a bin: [first, first + width).
std::uint32_t DistanceBin(std::uint32_t distance);
std::uint32_t DistanceBinStart(std::uint32_t bin);

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_RATE_TABLE_H_
