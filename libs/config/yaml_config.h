#ifndef CAIRN_LIBS_CONFIG_YAML_CONFIG_H_
#define CAIRN_LIBS_CONFIG_YAML_CONFIG_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cairn {

// Fills `message` from a YAML document whose mapping has the message's field names. Every value is
// typed by its field: a size may be 4096 or 4KiB, a google.protobuf.Duration 30s or 1m30s.
// INVALID_ARGUMENT "FILE:LINE: field arena.byts: unknown field" and the like, naming file, line and
// field, for: text that is no YAML, an unknown or repeated field, a value of the wrong type or
// range, anything over limits::kConfigBytesMax. `message` is then of no use.
absl::Status ParseYamlConfig(absl::string_view text, absl::string_view file,
                             google::protobuf::Message* message);
// The same from a file; NOT_FOUND or PERMISSION_DENIED name it.
absl::Status LoadYamlConfig(const std::string& file, google::protobuf::Message* message);

// The message as YAML that ParseYamlConfig reads back, every set field in the order of its number.
// Fields named `salt` are shown as "(hidden)".
std::string ToYaml(const google::protobuf::Message& message);

}  // namespace cairn
#endif  // CAIRN_LIBS_CONFIG_YAML_CONFIG_H_
