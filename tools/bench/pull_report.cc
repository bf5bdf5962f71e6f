#include "tools/bench/pull_report.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "libs/base/units.h"
#include "tools/cairnctl/table.h"

namespace cairn::bench {
namespace {

constexpr double kNearlyAsFast = 0.90;
constexpr double kIdleSecondsPerGb = 0.001;  // "zero": what a clock's own noise may show

// What is compared with what. An aim holds from `bytes_min` and `window_min` on.
struct Comparison {
  const char* contender;
  const char* other;
  double aim;
  bool is_above;  // the aim is to be above it, not at it
  std::uint64_t bytes_min;
  std::uint32_t window_min;
};
constexpr Comparison kComparisons[] = {
    {"transport", "ucx", kNearlyAsFast, false, 0, 0}, {"node", "ucx", kNearlyAsFast, false, 0, 0},
    {"transport", "memcached", 1.0, true, kMiB, 8},   {"node", "memcached", 1.0, true, kMiB, 8},
    {"transport", "redis", 1.0, true, kMiB, 8},       {"node", "redis", 1.0, true, kMiB, 8},
    {"host", "memcpy", kNearlyAsFast, false, 0, 0},
};

std::string Fixed(double value, int digits) { return absl::StrFormat("%.*f", digits, value); }

const Row* Find(const std::vector<Row>& rows, absl::string_view contender, const Cell& cell) {
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.contender == contender && row.cell.operation == cell.operation &&
           row.cell.bytes == cell.bytes && row.cell.window == cell.window;
  });
  return it == rows.end() ? nullptr : &*it;
}

std::optional<Ratio> Compare(const std::vector<Row>& rows, const Row& row, const Comparison& with) {
  Cell cell = row.cell;
  // The bound of a copy is the same in both directions.
  if (absl::string_view(with.other) == "memcpy") cell.operation = Operation::kGet;
  const Row* other = Find(rows, with.other, cell);
  if (other == nullptr || other->gb_per_s() <= 0) return std::nullopt;
  Ratio ratio{.name = absl::StrCat(with.contender, " / ", with.other),
              .cell = row.cell,
              .value = row.gb_per_s() / other->gb_per_s(),
              .is_disturbed = row.is_disturbed() || other->is_disturbed()};
  if (cell.bytes >= with.bytes_min && cell.window >= with.window_min) {
    ratio.aim = with.aim;
    ratio.is_met = with.is_above ? ratio.value > with.aim : ratio.value >= with.aim;
  }
  return ratio;
}

boost::json::object JsonOf(const Cell& cell) {
  return {{"operation", NameOf(cell.operation)}, {"bytes", cell.bytes}, {"window", cell.window}};
}

boost::json::object JsonOf(Row& row) {
  boost::json::object json{{"contender", row.contender}};
  for (const auto& [name, value] : JsonOf(row.cell)) json[name] = value;
  json["gb_per_s"] = row.gb_per_s();
  json["p50_us"] = Quantile(row.sum.latencies_us, 0.5);
  json["p99_us"] = Quantile(row.sum.latencies_us, 0.99);
  json["client_cpu_s_per_gb"] = row.PerGb(row.sum.client_cpu_s);
  json["server_cpu_s_per_gb"] = row.PerGb(row.sum.server_cpu_s);
  json["client_cpu_s"] = row.sum.client_cpu_s;
  json["server_cpu_s"] = row.sum.server_cpu_s;
  json["operations"] = row.sum.operations;
  json["seconds"] = row.sum.seconds;
  json["others_cpu_share"] = row.others();
  json["is_disturbed"] = row.is_disturbed();
  boost::json::array slices;
  for (const double slice : row.slices_gb_per_s) slices.push_back(slice);
  json["slices_gb_per_s"] = std::move(slices);
  return json;
}

}  // namespace

void Row::Add(const Slice& slice) {
  slices_gb_per_s.push_back(slice.gb_per_s());
  sum.operations += slice.operations;
  sum.bytes += slice.bytes;
  sum.seconds += slice.seconds;
  sum.client_cpu_s += slice.client_cpu_s;
  sum.server_cpu_s += slice.server_cpu_s;
  sum.others_cpu_s += slice.others_cpu_s;
  sum.latencies_us.insert(sum.latencies_us.end(), slice.latencies_us.begin(),
                          slice.latencies_us.end());
}

double Row::PerGb(double seconds) const {
  return sum.bytes == 0 ? 0 : seconds / (static_cast<double>(sum.bytes) / 1e9);
}

std::vector<Ratio> RatiosOf(std::vector<Row>& rows) {
  std::vector<Ratio> ratios;
  for (const Comparison& comparison : kComparisons) {
    for (const Row& row : rows) {
      if (row.contender != comparison.contender) continue;
      std::optional<Ratio> ratio = Compare(rows, row, comparison);
      if (ratio.has_value()) ratios.push_back(*std::move(ratio));
    }
  }
  for (const Row& row : rows) {
    if (row.contender != "host" || row.cell.operation != Operation::kGet) continue;
    const double per_gb = row.PerGb(row.sum.server_cpu_s);
    ratios.push_back({.name = "host: node's CPU s/GB",
                      .cell = row.cell,
                      .value = per_gb,
                      .aim = 0,
                      .is_met = per_gb < kIdleSecondsPerGb});
  }
  return ratios;
}

std::string ShowSize(std::uint64_t bytes) {
  if (bytes % kMiB == 0) return absl::StrCat(bytes / kMiB, "MiB");
  return absl::StrCat(bytes / kKiB, "KiB");
}

void PrintRows(std::ostream& out, std::vector<Row>& rows) {
  Table table({"OP", "SIZE", "WINDOW", "CONTENDER", "GB/s", "p50 us", "p99 us", "client s/GB",
               "server s/GB", "others"});
  for (Row& row : rows) {
    table.Add({NameOf(row.cell.operation), ShowSize(row.cell.bytes), absl::StrCat(row.cell.window),
               row.contender, Fixed(row.gb_per_s(), 2),
               Fixed(Quantile(row.sum.latencies_us, 0.5), 0),
               Fixed(Quantile(row.sum.latencies_us, 0.99), 0),
               Fixed(row.PerGb(row.sum.client_cpu_s), 3), Fixed(row.PerGb(row.sum.server_cpu_s), 3),
               absl::StrCat(Fixed(row.others() * 100, 0), "%", row.is_disturbed() ? " ~" : "")});
  }
  table.Print(out);
}

void PrintRatios(std::ostream& out, const std::vector<Ratio>& ratios) {
  using Column = std::pair<std::uint64_t, std::uint32_t>;
  using Line = std::pair<std::string, Operation>;
  std::set<Column> columns;
  std::vector<Line> lines;
  std::map<std::pair<Line, Column>, const Ratio*> cells;
  for (const Ratio& ratio : ratios) {
    const Column column(ratio.cell.bytes, ratio.cell.window);
    const Line line(ratio.name, ratio.cell.operation);
    columns.insert(column);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    cells[{line, column}] = &ratio;
  }
  std::vector<std::string> head = {"RATIO", "OP", "AIM"};
  for (const auto& [bytes, window] : columns) {
    head.push_back(absl::StrCat(ShowSize(bytes), " w", window));
  }
  Table table(std::move(head));
  for (const Line& line : lines) {
    std::vector<std::string> row = {line.first, NameOf(line.second), "-"};
    for (const Column& column : columns) {
      const auto it = cells.find({line, column});
      if (it == cells.end()) {
        row.push_back("-");
        continue;
      }
      const Ratio& ratio = *it->second;
      if (ratio.aim.has_value()) row[2] = Fixed(*ratio.aim, 2);
      row.push_back(absl::StrCat(Fixed(ratio.value, ratio.aim == 0.0 ? 4 : 2),
                                 ratio.is_met ? "" : "!", ratio.is_disturbed ? "~" : ""));
    }
    table.Add(std::move(row));
  }
  table.Print(out);
  out << "!: the aim is missed   ~: other processes used over " << kOthersMax * 100
      << " % of a processor   memcached and redis: the aim holds from 1MiB on at window 8\n";
}

boost::json::value JsonOf(std::vector<Row>& rows, const std::vector<Ratio>& ratios,
                          const std::vector<std::string>& skipped) {
  boost::json::array json_rows;
  for (Row& row : rows) json_rows.push_back(JsonOf(row));
  boost::json::array json_ratios;
  for (const Ratio& ratio : ratios) {
    boost::json::object json{{"name", ratio.name}};
    for (const auto& [name, value] : JsonOf(ratio.cell)) json[name] = value;
    json["value"] = ratio.value;
    json["is_disturbed"] = ratio.is_disturbed;
    json["aim"] = ratio.aim.has_value() ? boost::json::value(*ratio.aim) : boost::json::value();
    json["is_met"] = ratio.is_met;
    json_ratios.push_back(std::move(json));
  }
  boost::json::array json_skipped;
  for (const std::string& name : skipped) json_skipped.emplace_back(name);
  return boost::json::object{{"bench", "pull"},
                             {"rows", std::move(json_rows)},
                             {"ratios", std::move(json_ratios)},
                             {"skipped", std::move(json_skipped)}};
}

}  // namespace cairn::bench
