#ifndef CAIRN_TOOLS_CAIRNCTL_MESSAGE_JSON_H_
#define CAIRN_TOOLS_CAIRNCTL_MESSAGE_JSON_H_

#include <google/protobuf/message.h>

#include <boost/json/object.hpp>

namespace cairn {

// A message as JSON for scripts, every field of it, set or not: bytes as lower-case hex, a Duration
// `age` as the number "age_seconds", a fixed64 (a checksum) as 16 hex digits, a map as an object
// with its keys in order, an unset message as null.
boost::json::object JsonOf(const google::protobuf::Message& message);

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_MESSAGE_JSON_H_
