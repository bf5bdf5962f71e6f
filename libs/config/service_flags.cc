#include "libs/config/service_flags.h"

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"

namespace cairn {

std::string ServiceUsage(absl::string_view program) {
  return absl::StrCat(
      "usage: ", program, " --config FILE [flags]\n",
      "  --config FILE      the configuration, YAML (fields: proto/cairn/config/v1)\n",
      "  --check_config     read and check the configuration, then exit\n",
      "  --print_config     print the configuration as read, then exit\n",
      "  --log_level LEVEL  debug, info (default), warning or error\n");
}

absl::StatusOr<ServiceFlags> ParseServiceFlags(const std::vector<std::string>& arguments) {
  ServiceFlags flags;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const bool takes_value = name == "--config" || name == "--log_level";
    std::string value;
    if (takes_value) {
      if (equals != std::string::npos) {
        value = arguments[i].substr(equals + 1);
      } else if (i + 1 < arguments.size()) {
        value = arguments[++i];
      } else {
        return absl::InvalidArgumentError(absl::StrCat(name, " needs a value"));
      }
    } else if (equals != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("unknown argument ", arguments[i]));
    }
    if (name == "--config") {
      flags.config = value;
    } else if (name == "--log_level") {
      CAIRN_ASSIGN_OR_RETURN(flags.log_level, ParseLogLevel(value));
    } else if (name == "--check_config") {
      flags.check_config = true;
    } else if (name == "--print_config") {
      flags.print_config = true;
    } else if (name == "--help" || name == "-h") {
      flags.help = true;
    } else {
      return absl::InvalidArgumentError(absl::StrCat("unknown argument ", arguments[i]));
    }
  }
  if (!flags.help && flags.config.empty()) return absl::InvalidArgumentError("--config is missing");
  return flags;
}

}  // namespace cairn
