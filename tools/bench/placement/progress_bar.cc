#include "tools/bench/placement/progress_bar.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cairn::bench {
namespace {

constexpr int kCells = 30;
constexpr absl::string_view kClearLine = "\r\x1b[K";

}  // namespace

ProgressBar::~ProgressBar() {
  if (!shown_.empty()) out_ << kClearLine << std::flush;
}

void ProgressBar::Show(absl::string_view what, double share) {
  if (!is_terminal_) return;
  const double done = std::clamp(share, 0.0, 1.0);
  const int cells = static_cast<int>(done * kCells);
  std::string line = absl::StrCat("[", std::string(static_cast<std::size_t>(cells), '#'),
                                  std::string(static_cast<std::size_t>(kCells - cells), '.'), "] ",
                                  static_cast<int>(done * 100), " % ", what);
  if (line == shown_) return;
  out_ << kClearLine << line << std::flush;
  shown_ = std::move(line);
}

}  // namespace cairn::bench
