#include "tools/cairnctl/table.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "libs/base/units.h"

namespace cairn {

void Table::Print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&line, row[i]);
      if (i + 1 < row.size()) line.append(widths[i] + 2 - row[i].size(), ' ');
    }
    out << line << "\n";
  }
}

std::string ShowBytes(std::uint64_t bytes) {
  static constexpr struct {
    std::uint64_t unit;
    const char* name;
  } kUnits[] = {{kGiB, "GiB"}, {kMiB, "MiB"}, {kKiB, "KiB"}};
  for (const auto& [unit, name] : kUnits) {
    if (bytes < unit) continue;
    if (bytes % unit == 0) return absl::StrCat(bytes / unit, " ", name);
    return absl::StrFormat("%.1f %s", static_cast<double>(bytes) / static_cast<double>(unit), name);
  }
  return absl::StrCat(bytes, " B");
}

std::string ShowDuration(const google::protobuf::Duration& duration) {
  const absl::Duration exact =
      absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
  return absl::FormatDuration(
      absl::Trunc(exact, exact < absl::Seconds(10) ? absl::Milliseconds(1) : absl::Seconds(1)));
}

std::string ShowText(const std::string& text) {
  return text.empty() ? "-" : absl::Utf8SafeCHexEscape(text);
}

}  // namespace cairn
