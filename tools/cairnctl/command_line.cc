#include "tools/cairnctl/command_line.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "tools/cairnctl/flags.h"

namespace cairn {
namespace {

constexpr Flag kGeneralFlags[] = {
    {"output", "table|json", "form of the answer (default: table)"},
    {"help", "", "show this, or the help of a verb"},
};

const Verb* FindVerb(absl::string_view name) {
  for (const Verb* verb : Verbs()) {
    if (verb->name == name) return verb;
  }
  return nullptr;
}

void PrintHelp(std::ostream& out) {
  out << "cairnctl: the admin command line of Cairn\n\n"
         "usage: cairnctl VERB [ARGS] [FLAGS]\n"
         "       cairnctl help VERB\n\nverbs:\n";
  for (const Verb* verb : Verbs()) {
    PrintHelpLine(out, absl::StrCat(verb->name, " ", verb->usage), verb->summary);
  }
  out << "\nflags of every verb:\n";
  PrintFlags(out, kGeneralFlags);
  out << "\nexit codes: 0 done, 1 failed, 2 usage, 3 not found\n";
}

void PrintVerbHelp(std::ostream& out, const Verb& verb) {
  out << "usage: cairnctl " << verb.name << " " << verb.usage << "\n\n" << verb.help << "\n";
  if (!verb.flags.empty()) out << "\nflags:\n";
  PrintFlags(out, verb.flags);
  if (verb.asks_node) {
    out << "\nflags of every verb that asks a node:\n";
    PrintFlags(out, kNodeFlags);
  }
  out << "\nflags of every verb:\n";
  PrintFlags(out, kGeneralFlags);
}

ExitCode UsageError(std::ostream& err, const Verb* verb, absl::string_view message) {
  err << "cairnctl: " << message << "\n";
  if (verb != nullptr) {
    err << "usage: cairnctl " << verb->name << " " << verb->usage << "  (more: cairnctl help "
        << verb->name << ")\n";
  } else {
    err << "see: cairnctl --help\n";
  }
  return kExitUsage;
}

// Splits `args` into positional arguments and flags. A flag unknown to both the verb and the
// general ones is an error, so the verb must be known first: it is the first positional argument.
struct Parsed {
  const Verb* verb = nullptr;
  std::vector<std::string> args;  // without the verb
  FlagValues flags;
};

absl::Status AddFlag(absl::Span<const std::string> args, std::size_t& i, Parsed& parsed) {
  const Verb* const verb = parsed.verb;
  const bool asks_node = verb != nullptr && verb->asks_node;
  return ReadFlag(args, i,
                  {kGeneralFlags, verb == nullptr ? absl::Span<const Flag>() : verb->flags,
                   asks_node ? absl::Span<const Flag>(kNodeFlags) : absl::Span<const Flag>()},
                  parsed.flags);
}

absl::Status Parse(absl::Span<const std::string> args, Parsed& parsed) {
  bool only_args = false;
  bool is_help = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (!only_args && arg == "--") {
      only_args = true;
    } else if (!only_args && arg.size() > 2 && arg.compare(0, 2, "--") == 0) {
      CAIRN_RETURN_IF_ERROR(AddFlag(args, i, parsed));
    } else if (!only_args && arg == "-h") {
      parsed.flags["help"] = "";
    } else if (!only_args && arg.size() > 1 && arg[0] == '-') {
      return absl::InvalidArgumentError(absl::StrCat("unknown flag ", arg));
    } else if (parsed.verb != nullptr) {
      parsed.args.push_back(arg);
    } else if (arg == "help" && !is_help) {
      is_help = true;
      parsed.flags["help"] = "";
    } else {
      parsed.verb = FindVerb(arg);
      if (parsed.verb == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat("no such verb: ", arg));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<OutputForm> FormOf(const Parsed& parsed) {
  const auto it = parsed.flags.find("output");
  if (it == parsed.flags.end() || it->second == "table") return OutputForm::kTable;
  if (it->second == "json") return OutputForm::kJson;
  return absl::InvalidArgumentError(
      absl::StrCat("--output is table or json, not \"", it->second, "\""));
}

// Flags win over the environment, and one way to name the node over all others.
void AddDefaults(const Surroundings& surroundings, Parsed& parsed) {
  const bool names_node = parsed.flags.contains("endpoint") || parsed.flags.contains("run-dir");
  for (const auto& [name, value] : surroundings.defaults) {
    if (names_node && (name == "endpoint" || name == "run-dir")) continue;
    if (!value.empty()) parsed.flags.try_emplace(name, value);
  }
}

}  // namespace

int RunCairnctl(absl::Span<const std::string> args, Streams streams,
                const Surroundings& surroundings) {
  Parsed parsed;
  if (absl::Status s = Parse(args, parsed); !s.ok()) {
    return UsageError(streams.err, parsed.verb, s.message());
  }
  const Verb* verb = parsed.verb;
  if (parsed.flags.contains("help")) {
    verb == nullptr ? PrintHelp(streams.out) : PrintVerbHelp(streams.out, *verb);
    return kExitDone;
  }
  if (verb == nullptr) return UsageError(streams.err, nullptr, "no verb given");
  const absl::StatusOr<OutputForm> form = FormOf(parsed);
  if (!form.ok()) return UsageError(streams.err, verb, form.status().message());
  if (parsed.args.size() < verb->args_min) {
    return UsageError(streams.err, verb, absl::StrCat(verb->name, ": missing argument"));
  }
  if (parsed.args.size() > verb->args_max) {
    return UsageError(
        streams.err, verb,
        absl::StrCat(verb->name, ": too many arguments: ", parsed.args[verb->args_max]));
  }
  if (verb->asks_node) AddDefaults(surroundings, parsed);
  return verb->run({.verb = verb->name,
                    .is_terminal = surroundings.is_terminal,
                    .streams = streams,
                    .args = std::move(parsed.args),
                    .flags = std::move(parsed.flags),
                    .output = *form});
}

}  // namespace cairn
