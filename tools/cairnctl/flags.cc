#include "tools/cairnctl/flags.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace cairn {
namespace {

const Flag* FindFlag(std::initializer_list<absl::Span<const Flag>> known, absl::string_view name) {
  for (const absl::Span<const Flag> flags : known) {
    const auto it = std::find_if(flags.begin(), flags.end(),
                                 [&](const Flag& flag) { return flag.name == name; });
    if (it != flags.end()) return &*it;
  }
  return nullptr;
}

}  // namespace

absl::Status ReadFlag(absl::Span<const std::string> args, std::size_t& i,
                      std::initializer_list<absl::Span<const Flag>> known, FlagValues& values) {
  const absl::string_view text = absl::StripPrefix(args[i], "--");
  const std::size_t equals = text.find('=');
  const absl::string_view name = text.substr(0, equals);
  const Flag* const flag = FindFlag(known, name);
  if (flag == nullptr) return absl::InvalidArgumentError(absl::StrCat("unknown flag --", name));
  std::string value;
  if (flag->value.empty()) {
    if (equals != absl::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat("--", name, " takes no value"));
    }
  } else if (equals != absl::string_view::npos) {
    value = std::string(text.substr(equals + 1));
  } else if (i + 1 < args.size()) {
    value = args[++i];
  } else {
    return absl::InvalidArgumentError(absl::StrCat("--", name, " needs a value: ", flag->value));
  }
  values[std::string(name)] = std::move(value);
  return absl::OkStatus();
}

void PrintHelpLine(std::ostream& out, absl::string_view typed, absl::string_view meaning) {
  std::string left = absl::StrCat("  ", typed);
  left.resize(std::max<std::size_t>(left.size() + 2, 24), ' ');
  out << left << meaning << "\n";
}

void PrintFlags(std::ostream& out, absl::Span<const Flag> flags) {
  for (const Flag& flag : flags) {
    PrintHelpLine(out, absl::StrCat("--", flag.name, flag.value.empty() ? "" : "=", flag.value),
                  flag.help);
  }
}

}  // namespace cairn
