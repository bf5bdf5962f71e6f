#ifndef CAIRN_TOOLS_BENCH_COMMAND_LINE_H_
#define CAIRN_TOOLS_BENCH_COMMAND_LINE_H_

#include <boost/json/value.hpp>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "libs/termination/termination.h"
#include "tools/cairnctl/flags.h"

namespace cairn::bench {

// One call of a bench, its flags known to exist.
struct BenchCall {
  Termination& termination;
  std::string program_path;  // PATH
  std::ostream& out;         // results
  std::ostream& err;         // progress and errors
  FlagValues flags;

  // The value of a flag, or `otherwise`. INVALID_ARGUMENT names the flag and what it may be.
  std::string Text(absl::string_view flag, absl::string_view otherwise) const;
  absl::StatusOr<std::uint64_t> Number(absl::string_view flag, std::uint64_t otherwise,
                                       std::uint64_t number_min, std::uint64_t number_max) const;
};

// A subcommand. To add one: a file, a declaration and a line in main.cc.
struct Bench {
  absl::string_view name;
  absl::string_view summary;  // one line
  absl::string_view help;     // what is measured
  absl::Span<const Flag> flags;
  // What it found, as JSON; prints its tables to call.out unless `is_quiet`. CANCELLED: a signal
  // came.
  absl::StatusOr<boost::json::value> (*run)(const BenchCall& call, bool is_quiet) = nullptr;
  // Whether what it found is a failure in itself (it is written all the same); null: never.
  bool (*is_failure)(const boost::json::value& found) = nullptr;
};

// Runs `cairn-bench ARGS...`; the exit code is cairnctl's: 0 done, 1 failed, 2 usage. `call` has no
// flags yet.
int RunBench(absl::Span<const Bench* const> benches, absl::Span<const std::string> args,
             BenchCall call);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_COMMAND_LINE_H_
