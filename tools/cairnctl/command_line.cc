#include "tools/cairnctl/command_line.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
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

// "plan" of "plan show"; true if there are verbs of that group.
bool IsGroup(absl::string_view name) {
  for (const Verb* verb : Verbs()) {
    if (absl::StartsWith(verb->name, absl::StrCat(name, " "))) return true;
  }
  return false;
}

// The flags that name whom a verb asks.
absl::Span<const Flag> FlagsOf(Asks asks) {
  switch (asks) {
    case Asks::kNode:
      return kNodeFlags;
    case Asks::kPlacement:
      return kPlacementFlags;
    case Asks::kNobody:
      break;
  }
  return {};
}
absl::Span<const Flag> CallFlagsOf(Asks asks) {
  return asks == Asks::kNobody ? absl::Span<const Flag>() : absl::Span<const Flag>(kCallFlags);
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
  if (verb.asks != Asks::kNobody) {
    out << "\nflags of every verb that asks "
        << (verb.asks == Asks::kNode ? "a node" : "the placement service") << ":\n";
    PrintFlags(out, FlagsOf(verb.asks));
    PrintFlags(out, kCallFlags);
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
  std::string group;  // the first word of a verb of two
  const Verb* verb = nullptr;
  std::vector<std::string> args;  // without the verb
  FlagValues flags;
};

absl::Status AddFlag(absl::Span<const std::string> args, std::size_t& i, Parsed& parsed) {
  const Verb* const verb = parsed.verb;
  const Asks asks = verb == nullptr ? Asks::kNobody : verb->asks;
  return ReadFlag(args, i,
                  {kGeneralFlags, verb == nullptr ? absl::Span<const Flag>() : verb->flags,
                   FlagsOf(asks), CallFlagsOf(asks)},
                  parsed.flags);
}

absl::Status AddVerb(const std::string& word, Parsed& parsed) {
  if (parsed.group.empty() && IsGroup(word)) {
    parsed.group = word;
    return absl::OkStatus();
  }
  const std::string name = parsed.group.empty() ? word : absl::StrCat(parsed.group, " ", word);
  parsed.verb = FindVerb(name);
  if (parsed.verb != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("no such verb: ", name));
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
      CAIRN_RETURN_IF_ERROR(AddVerb(arg, parsed));
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

// Flags win over the environment, and one way to name the server over all others.
void AddDefaults(const Surroundings& surroundings, Parsed& parsed) {
  const absl::Span<const Flag> naming = FlagsOf(parsed.verb->asks);
  const auto names_server = [&](absl::string_view name) {
    return std::any_of(naming.begin(), naming.end(),
                       [&](const Flag& flag) { return flag.name == name; });
  };
  const bool is_named = std::any_of(naming.begin(), naming.end(), [&](const Flag& flag) {
    return parsed.flags.contains(flag.name);
  });
  for (const auto& [name, value] : surroundings.defaults) {
    if (value.empty() || (names_server(name) ? is_named : name != "timeout")) continue;
    parsed.flags.try_emplace(name, value);
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
  if (verb == nullptr) {
    return UsageError(
        streams.err, nullptr,
        parsed.group.empty() ? "no verb given" : absl::StrCat(parsed.group, ": what of it?"));
  }
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
  if (verb->asks != Asks::kNobody) AddDefaults(surroundings, parsed);
  return verb->run({.verb = verb->name,
                    .is_terminal = surroundings.is_terminal,
                    .streams = streams,
                    .args = std::move(parsed.args),
                    .flags = std::move(parsed.flags),
                    .output = *form});
}

}  // namespace cairn
