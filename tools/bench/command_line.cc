#include "tools/bench/command_line.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "tools/cairnctl/json_text.h"
#include "tools/cairnctl/verb.h"

namespace cairn::bench {
namespace {

constexpr Flag kGeneralFlags[] = {
    {"json", "FILE|-",
     "write the figures there; to standard output, instead of tables: -, or none"},
    {"help", "", "show this, or the help of a bench"},
};

void PrintHelp(std::ostream& out, absl::Span<const Bench* const> benches) {
  out << "cairn-bench: benches of the whole system\n\n"
         "usage: cairn-bench BENCH [FLAGS]\n       cairn-bench help BENCH\n\nbenches:\n";
  for (const Bench* bench : benches) {
    PrintHelpLine(out, bench->name, bench->summary);
  }
  out << "\nflags of every bench:\n";
  PrintFlags(out, kGeneralFlags);
  out << "\nexit codes: 0 done, 1 failed or interrupted, 2 usage\n";
}

void PrintBenchHelp(std::ostream& out, const Bench& bench) {
  out << "usage: cairn-bench " << bench.name << " [FLAGS]\n\n" << bench.help << "\n\nflags:\n";
  PrintFlags(out, bench.flags);
  PrintFlags(out, kGeneralFlags);
}

int UsageError(std::ostream& err, const Bench* bench, absl::string_view message) {
  err << "cairn-bench: " << message << "\nsee: cairn-bench "
      << (bench == nullptr ? std::string("--help") : absl::StrCat("help ", bench->name)) << "\n";
  return kExitUsage;
}

struct Parsed {
  const Bench* bench = nullptr;
  bool is_help = false;
  FlagValues flags;
};

absl::Status Parse(absl::Span<const Bench* const> benches, absl::Span<const std::string> args,
                   Parsed& parsed) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "--json" && (i + 1 == args.size() || absl::StartsWith(args[i + 1], "--"))) {
      parsed.flags["json"] = "-";  // no file given
    } else if (absl::StartsWith(arg, "--") && arg.size() > 2) {
      CAIRN_RETURN_IF_ERROR(ReadFlag(
          args, i,
          {kGeneralFlags, parsed.bench == nullptr ? absl::Span<const Flag>() : parsed.bench->flags},
          parsed.flags));
    } else if (arg == "-h" || (arg == "help" && parsed.bench == nullptr)) {
      parsed.is_help = true;
    } else if (parsed.bench != nullptr || absl::StartsWith(arg, "-")) {
      return absl::InvalidArgumentError(absl::StrCat("what is ", arg, "?"));
    } else {
      const auto it = std::find_if(benches.begin(), benches.end(),
                                   [&](const Bench* bench) { return bench->name == arg; });
      if (it == benches.end()) {
        return absl::InvalidArgumentError(absl::StrCat("no such bench: ", arg));
      }
      parsed.bench = *it;
    }
  }
  return absl::OkStatus();
}

// Before minutes are spent on what cannot be written.
absl::Status CheckWritable(const std::string& file) {
  if (file.empty() || file == "-" || std::ofstream(file).is_open()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--json: cannot write ", file));
}

}  // namespace

std::string BenchCall::Text(absl::string_view flag, absl::string_view otherwise) const {
  const auto it = flags.find(flag);
  return std::string(it == flags.end() ? otherwise : it->second);
}

absl::StatusOr<std::uint64_t> BenchCall::Number(absl::string_view flag, std::uint64_t otherwise,
                                                std::uint64_t number_min,
                                                std::uint64_t number_max) const {
  const auto it = flags.find(flag);
  if (it == flags.end()) return otherwise;
  std::uint64_t number = 0;
  if (absl::SimpleAtoi(it->second, &number) && number >= number_min && number <= number_max) {
    return number;
  }
  return absl::InvalidArgumentError(absl::StrCat("--", flag, " is a number from ", number_min,
                                                 " to ", number_max, ", not \"", it->second, "\""));
}

int RunBench(absl::Span<const Bench* const> benches, absl::Span<const std::string> args,
             BenchCall call) {
  Parsed parsed;
  const absl::Status good = Parse(benches, args, parsed);
  if (!good.ok()) return UsageError(call.err, parsed.bench, good.message());
  if (parsed.is_help || parsed.flags.contains("help")) {
    parsed.bench == nullptr ? PrintHelp(call.out, benches)
                            : PrintBenchHelp(call.out, *parsed.bench);
    return kExitDone;
  }
  if (parsed.bench == nullptr) return UsageError(call.err, nullptr, "no bench given");
  call.flags = std::move(parsed.flags);
  const std::string json_file = call.Text("json", "");
  const auto run = [&]() -> absl::StatusOr<boost::json::value> {
    CAIRN_RETURN_IF_ERROR(CheckWritable(json_file));
    return parsed.bench->run(call, json_file == "-");
  };
  const absl::StatusOr<boost::json::value> found = run();
  if (absl::IsInvalidArgument(found.status())) {
    return UsageError(call.err, parsed.bench, found.status().message());
  }
  if (!found.ok()) {
    call.err << "cairn-bench: " << found.status().message() << "\n";
    return kExitFailed;
  }
  if (json_file == "-") {
    PrintJson(call.out, *found);
  } else if (!json_file.empty()) {
    std::ofstream out(json_file);
    PrintJson(out, *found);
  }
  const bool is_failure = parsed.bench->is_failure != nullptr && parsed.bench->is_failure(*found);
  return is_failure ? kExitFailed : kExitDone;
}

}  // namespace cairn::bench
