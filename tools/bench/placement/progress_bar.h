#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_PROGRESS_BAR_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_PROGRESS_BAR_H_

#include <ostream>
#include <string>

#include "absl/strings/string_view.h"

namespace cairn::bench {

// One line that grows on a terminal, and is gone when the bar ends; nothing at all elsewhere.
// Threads: one owner.
class ProgressBar {
 public:
  ProgressBar(std::ostream& out, bool is_terminal) : out_(out), is_terminal_(is_terminal) {}
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `share` (0..1) of `what` is done. Draws only what looks different.
  void Show(absl::string_view what, double share);

 private:
  std::ostream& out_;
  bool is_terminal_;
  std::string shown_;
};

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_PROGRESS_BAR_H_
