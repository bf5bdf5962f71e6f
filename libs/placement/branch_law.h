#ifndef CAIRN_LIBS_PLACEMENT_BRANCH_LAW_H_
#define CAIRN_LIBS_PLACEMENT_BRANCH_LAW_H_

#include <array>
#include <cstdint>

#include "libs/base/bytes.h"

namespace cairn::placement {

// How many more requests part at a branch point at which k have parted so far: of all branch points
// that ever had k claims, the mean of those that came after. Counted apart for points where an
// entry was simply continued (parted at its end), shortly before an end, and far from it, each
// shrunk to all together: the ends are many and mostly claimed once, shared heads are few and
// claimed often.
//
// Observe costs O(k), k bounded by kClaimsMax. Threads: one owner.
class BranchLaw {
 public:
  static constexpr std::uint32_t kClaimsMax = 64;  // more are counted as this many

  // A request parted at a point with `claims` before it; the first one parted `parted_before_end`
  // short of the end of the entry that it met.
  // `weight`: it stands for so many, each at a point of its own.
  void Observe(std::uint32_t claims, std::uint32_t parted_before_end, double weight = 1);

  // Expected further claims, `claims` at least 1 having been seen.
  double Expected(std::uint32_t claims, std::uint32_t parted_before_end) const;

  // All counts, 4 KiB of them. Load leaves the reader marked bad if Save wrote something else.
  void Save(ByteWriter& out) const;
  void Load(ByteReader& in);

 private:
  struct Counts {
    std::array<double, kClaimsMax + 1> further = {};  // [k]: claims that came after the k-th
    std::array<double, kClaimsMax + 1> reached = {};  // [k]: points that got a k-th
  };
  static void Count(Counts& counts, std::uint32_t claims, double weight);
  static void Save(const Counts& counts, ByteWriter& out);
  static void Load(ByteReader& in, Counts& counts);

  Counts all_;
  std::array<Counts, 3> classes_;
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_BRANCH_LAW_H_
