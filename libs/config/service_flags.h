#ifndef CAIRN_LIBS_CONFIG_SERVICE_FLAGS_H_
#define CAIRN_LIBS_CONFIG_SERVICE_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/base/log.h"

namespace cairn {

// The command line that every service has: --config FILE [--check_config] [--print_config]
// [--log_level LEVEL]; `--flag=value` works too.
struct ServiceFlags {
  std::string config;
  bool check_config = false;
  bool print_config = false;
  bool help = false;
  LogLevel log_level = LogLevel::kInfo;
};

// INVALID_ARGUMENT naming the argument. `arguments` without the program's name.
absl::StatusOr<ServiceFlags> ParseServiceFlags(const std::vector<std::string>& arguments);
std::string ServiceUsage(absl::string_view program);

}  // namespace cairn
#endif  // CAIRN_LIBS_CONFIG_SERVICE_FLAGS_H_
