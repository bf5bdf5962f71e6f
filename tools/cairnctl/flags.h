#ifndef CAIRN_TOOLS_CAIRNCTL_FLAGS_H_
#define CAIRN_TOOLS_CAIRNCTL_FLAGS_H_

#include <cstddef>
#include <initializer_list>
#include <ostream>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

// The flags of our command lines, cairnctl and cairn-bench.
namespace cairn {

// A flag is `--name=VALUE` or `--name VALUE`; a switch is `--name`.
struct Flag {
  absl::string_view name;
  absl::string_view value;  // what the value is called in help; empty: a switch
  absl::string_view help;   // one line
};

// By name; a switch maps to "".
using FlagValues = absl::flat_hash_map<std::string, std::string>;

// Reads args[i], which begins with "--" and goes on, into `values`; i is then the last argument
// that was used. INVALID_ARGUMENT names the flag: in none of `known`, without its value, or a
// switch with one.
absl::Status ReadFlag(absl::Span<const std::string> args, std::size_t& i,
                      std::initializer_list<absl::Span<const Flag>> known, FlagValues& values);

// A line of a help text: what can be typed, and in a second column what it means.
void PrintHelpLine(std::ostream& out, absl::string_view typed, absl::string_view meaning);
// A line for each flag.
void PrintFlags(std::ostream& out, absl::Span<const Flag> flags);

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_FLAGS_H_
