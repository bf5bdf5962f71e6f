#ifndef CAIRN_TOOLS_CAIRNCTL_VERB_H_
#define CAIRN_TOOLS_CAIRNCTL_VERB_H_

#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/cairnctl/flags.h"

// The table of cairnctl's verbs. To add one: a file verb_<name>.cc that defines one `const Verb`, a
// declaration and a row in verbs.cc. Help, usage errors and flag parsing follow from the entry. A
// name may be two words ("plan show"): its group and what it does.

namespace cairn {

enum ExitCode { kExitDone = 0, kExitFailed = 1, kExitUsage = 2, kExitNotFound = 3 };

enum class OutputForm { kTable, kJson };

struct Streams {
  std::istream& in;
  std::ostream& out;  // results
  std::ostream& err;  // errors and notes, one line each
};

// Where cairnctl runs, as main.cc finds it.
struct Surroundings {
  // What flags of the same name default to: CAIRN_ENDPOINT, CAIRN_RUN_DIR, CAIRN_PLACEMENT,
  // CAIRN_TIMEOUT.
  FlagValues defaults;
  bool is_terminal = false;  // somebody can be asked
};

// One call of a verb, its flags and number of arguments already checked against its table entry.
struct Invocation {
  absl::string_view verb;
  bool is_terminal = false;
  Streams streams;
  std::vector<std::string> args;
  FlagValues flags;  // those given
  OutputForm output = OutputForm::kTable;
};

// Whom a verb asks.
enum class Asks { kNobody, kNode, kPlacement };

// Flags of every verb that asks a node.
inline constexpr Flag kNodeFlags[] = {
    {"endpoint", "HOST:PORT", "the node's gRPC address (or CAIRN_ENDPOINT)"},
    {"run-dir", "DIR",
     "the node's run_dir on this host: the address is read from DIR/grpc (or CAIRN_RUN_DIR)"},
};
// Flags of every verb that asks the placement service.
inline constexpr Flag kPlacementFlags[] = {
    {"placement", "HOST:PORT", "the placement service's gRPC address (or CAIRN_PLACEMENT)"},
};
// Flags of every verb that asks somebody.
inline constexpr Flag kCallFlags[] = {
    {"timeout", "DURATION", "how long to wait, e.g. 500ms, 10s, 5m (or CAIRN_TIMEOUT)"},
    {"ca", "FILE", "mTLS: certificates to trust, PEM"},
    {"cert", "FILE", "mTLS: the certificate to show"},
    {"key", "FILE", "mTLS: its key"},
};

struct Verb {
  absl::string_view name;
  absl::string_view usage;    // its arguments, e.g. "FILE"
  absl::string_view summary;  // one line
  absl::string_view help;     // what it does, and the RPC behind it
  std::size_t args_min = 0;
  std::size_t args_max = 0;
  absl::Span<const Flag> flags;
  Asks asks = Asks::kNobody;                     // takes the flags that name it, and kCallFlags
  ExitCode (*run)(const Invocation&) = nullptr;  // prints its own errors to streams.err
};

absl::Span<const Verb* const> Verbs();

// The exit code of what a verb came to, once the answer is written out and an error told: usage for
// INVALID_ARGUMENT, not found for NOT_FOUND, else failed.
ExitCode Told(const Invocation& call, absl::StatusOr<ExitCode> code);

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_VERB_H_
