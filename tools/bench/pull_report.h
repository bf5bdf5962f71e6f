#ifndef CAIRN_TOOLS_BENCH_PULL_REPORT_H_
#define CAIRN_TOOLS_BENCH_PULL_REPORT_H_

#include <boost/json/value.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tools/bench/contender.h"
#include "tools/bench/meter.h"

namespace cairn::bench {

// A row is disturbed when others used more than this share of one processor while it ran.
inline constexpr double kOthersMax = 0.15;

// What one contender did in one cell, slice by slice.
struct Row {
  std::string contender;
  Cell cell;
  std::vector<double> slices_gb_per_s;
  Slice sum;

  void Add(const Slice& slice);
  double gb_per_s() const { return Median(slices_gb_per_s); }
  double PerGb(double seconds) const;
  double others() const { return sum.seconds > 0 ? sum.others_cpu_s / sum.seconds : 0; }
  bool is_disturbed() const { return others() > kOthersMax; }
};

// One contender's speed over another's, in one cell; or, without another, a figure that stands
// for itself.
struct Ratio {
  std::string name;  // "transport / ucx"
  Cell cell;
  double value = 0;
  bool is_disturbed = false;
  std::optional<double> aim;  // none: there is no aim in this cell
  bool is_met = true;
};

std::vector<Ratio> RatiosOf(std::vector<Row>& rows);

void PrintRows(std::ostream& out, std::vector<Row>& rows);
// A line for each ratio and operation, a column for each size and window. Marks: "!" the aim is
// missed, "~" disturbed.
void PrintRatios(std::ostream& out, const std::vector<Ratio>& ratios);
boost::json::value JsonOf(std::vector<Row>& rows, const std::vector<Ratio>& ratios,
                          const std::vector<std::string>& skipped);

std::string ShowSize(std::uint64_t bytes);  // "64KiB", as --sizes takes it

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PULL_REPORT_H_
