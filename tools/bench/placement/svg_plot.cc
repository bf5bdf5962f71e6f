#include "tools/bench/placement/svg_plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace cairn::bench {
namespace {

constexpr double kLeft = 80, kTop = 50, kWidth = 600, kHeight = 440;  // of the axes' frame
constexpr double kLegendRow = 20;
constexpr int kTicks = 5;
// The first eight can be told apart by people who see few colours (Okabe and Ito).
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#56b4e9", "#e69f00", "#000000", "#7a4ea3",
                                    "#8c6d31", "#637939", "#ad494a", "#7b7b7b"};

std::string Escaped(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x20) plain.push_back(c);  // XML has no control characters
  }
  return absl::StrReplaceAll(plain,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

bool CanShow(const SvgSeries::Point& point) {
  return std::isfinite(point.x) && std::isfinite(point.y) && point.x >= 0 && point.y >= 0;
}

// The least of 1, 2, 5 x 10^n that kTicks of reach `most`.
double TickOf(double most) {
  if (!(most > 0)) return 1.0 / kTicks;
  double unit = std::pow(10, std::floor(std::log10(most / kTicks)));
  for (const double times : {1.0, 2.0, 5.0, 10.0}) {
    if (unit * times * kTicks >= most * (1 - 1e-9)) return unit * times;
  }
  return unit * 10;
}

class Canvas {
 public:
  Canvas(double x_tick, double y_tick) : x_most_(x_tick * kTicks), y_most_(y_tick * kTicks) {}
  double X(double x) const { return kLeft + x / x_most_ * kWidth; }
  double Y(double y) const { return kTop + kHeight - y / y_most_ * kHeight; }
  void Text(double x, double y, const char* anchor, const std::string& text,
            const std::string& more = "") {
    absl::StrAppendFormat(&svg_, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", x,
                          y, anchor, more, Escaped(text));
  }
  void Line(double x1, double y1, double x2, double y2, const std::string& style) {
    absl::StrAppendFormat(&svg_, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1,
                          y1, x2, y2, style);
  }
  void Append(const std::string& text) { svg_ += text; }
  std::string Take() { return std::move(svg_); }

 private:
  double x_most_;
  double y_most_;
  std::string svg_;
};

void DrawAxes(const SvgPlot& plot, double x_tick, double y_tick, Canvas& canvas) {
  for (int i = 0; i <= kTicks; ++i) {
    const double x = canvas.X(i * x_tick);
    const double y = canvas.Y(i * y_tick);
    canvas.Line(x, kTop, x, kTop + kHeight, "stroke=\"#ddd\"");
    canvas.Line(kLeft, y, kLeft + kWidth, y, "stroke=\"#ddd\"");
    canvas.Text(x, kTop + kHeight + 20, "middle", absl::StrFormat("%.6g", i * x_tick));
    canvas.Text(kLeft - 8, y + 4, "end", absl::StrFormat("%.6g", i * y_tick));
  }
  canvas.Text(kLeft, kTop - 20, "start", plot.title, " font-weight=\"bold\"");
  canvas.Text(kLeft + kWidth / 2, kTop + kHeight + 44, "middle", plot.x_name);
  const double middle = kTop + kHeight / 2;
  canvas.Text(20, middle, "middle", plot.y_name,
              absl::StrFormat(" transform=\"rotate(-90 20 %.1f)\"", middle));
}

void DrawSeries(const SvgSeries& series, std::size_t index, Canvas& canvas) {
  const char* const colour = kColours[index % std::size(kColours)];
  const char* const dash = series.is_dashed ? " stroke-dasharray=\"6 4\"" : "";
  std::string path;
  for (const SvgSeries::Point& point : series.points) {
    if (!CanShow(point)) continue;
    absl::StrAppendFormat(&path, "%s%.1f,%.1f", path.empty() ? "" : " ", canvas.X(point.x),
                          canvas.Y(point.y));
    if (series.is_dashed) continue;
    canvas.Append(absl::StrFormat("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n",
                                  canvas.X(point.x), canvas.Y(point.y), colour));
  }
  canvas.Append(absl::StrFormat(
      "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", path, colour,
      dash));
  const double y = kTop + 10 + kLegendRow * static_cast<double>(index);
  canvas.Line(kLeft + kWidth + 20, y, kLeft + kWidth + 50, y,
              absl::StrCat("stroke=\"", colour, "\" stroke-width=\"2\"", dash));
  canvas.Text(kLeft + kWidth + 58, y + 4, "start", series.name);
}

}  // namespace

std::string SvgOf(const SvgPlot& plot) {
  double x_most = 0;
  double y_most = 0;
  for (const SvgSeries& series : plot.series) {
    for (const SvgSeries::Point& point : series.points) {
      if (!CanShow(point)) continue;
      x_most = std::max(x_most, point.x);
      y_most = std::max(y_most, point.y);
    }
  }
  const double x_tick = TickOf(x_most);
  const double y_tick = TickOf(y_most);
  Canvas canvas(x_tick, y_tick);
  const double legend = kTop + kLegendRow * static_cast<double>(plot.series.size() + 1);
  const int height = static_cast<int>(std::max(kTop + kHeight + 70, legend));
  canvas.Append(
      // tidy: allow(host) the name of the SVG namespace: nothing is fetched
      absl::StrFormat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"960\" height=\"%d\" "
                      "viewBox=\"0 0 960 %d\" font-family=\"sans-serif\" font-size=\"13\">\n"
                      "<rect width=\"960\" height=\"%d\" fill=\"white\"/>\n",
                      height, height, height));
  DrawAxes(plot, x_tick, y_tick, canvas);
  for (std::size_t i = 0; i < plot.series.size(); ++i) DrawSeries(plot.series[i], i, canvas);
  canvas.Append("</svg>\n");
  return canvas.Take();
}

}  // namespace cairn::bench
