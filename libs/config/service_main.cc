#include "libs/config/service_main.h"

#include "absl/strings/str_cat.h"
#include "libs/base/log.h"
#include "libs/config/service_flags.h"
#include "libs/config/yaml_config.h"

namespace cairn {

int RunService(absl::string_view program, const std::vector<std::string>& arguments,
               ServiceStreams streams, google::protobuf::Message& config,
               absl::FunctionRef<absl::Status()> check, absl::FunctionRef<int()> serve) {
  const auto misused = [&](absl::string_view message) {
    streams.err << program << ": " << message << "\n";
    return kExitUsage;
  };
  const absl::StatusOr<ServiceFlags> flags = ParseServiceFlags(arguments);
  if (!flags.ok()) {
    streams.err << ServiceUsage(program);
    return misused(flags.status().message());
  }
  if (flags->help) {
    streams.out << ServiceUsage(program);
    return 0;
  }
  SetLogLevel(flags->log_level);
  if (absl::Status s = LoadYamlConfig(flags->config, &config); !s.ok()) return misused(s.message());
  if (flags->print_config) streams.out << ToYaml(config);
  if (absl::Status s = check(); !s.ok()) {
    return misused(absl::StrCat(flags->config, ": ", s.message()));
  }
  if (flags->check_config) streams.err << program << ": " << flags->config << ": good\n";
  if (flags->check_config || flags->print_config) return 0;
  return serve();
}

}  // namespace cairn
