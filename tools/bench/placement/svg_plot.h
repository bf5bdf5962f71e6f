#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_SVG_PLOT_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_SVG_PLOT_H_

#include <string>
#include <vector>

namespace cairn::bench {

// One line of a plot, its points in order; names and titles are any text.
struct SvgSeries {
  struct Point {
    double x = 0;
    double y = 0;
  };
  std::string name;
  std::vector<Point> points;
  bool is_dashed = false;  // a bound, not a run
};
struct SvgPlot {
  std::string title;
  std::string x_name;
  std::string y_name;
  std::vector<SvgSeries> series;
};

// The plot as one SVG document 960 wide, axes from 0 on, a legend beside it. Values that are no
// finite numbers at least 0 are left out. Pure: the same plot, the same bytes.
std::string SvgOf(const SvgPlot& plot);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_SVG_PLOT_H_
