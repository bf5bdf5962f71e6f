#ifndef CAIRN_LIBS_CONFIG_YAML_SCALAR_H_
#define CAIRN_LIBS_CONFIG_YAML_SCALAR_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cairn {

// "4096", "64KiB", "512MiB", "1GiB", "2TiB". INVALID_ARGUMENT for anything else or over 2^64 - 1.
absl::StatusOr<std::uint64_t> ParseSize(absl::string_view text);

// Sets a scalar or Duration field (a new element, if repeated) from its text. INVALID_ARGUMENT says
// what was expected.
absl::Status SetScalar(const google::protobuf::FieldDescriptor& field, absl::string_view text,
                       google::protobuf::Message* message);
bool IsDuration(const google::protobuf::FieldDescriptor& field);
// The text that SetScalar takes, of a singular field or element `index` of a repeated one.
std::string ScalarText(const google::protobuf::FieldDescriptor& field,
                       const google::protobuf::Message& message, int index);

}  // namespace cairn
#endif  // CAIRN_LIBS_CONFIG_YAML_SCALAR_H_
