#ifndef CAIRN_TOOLS_CAIRNCTL_JSON_TEXT_H_
#define CAIRN_TOOLS_CAIRNCTL_JSON_TEXT_H_

#include <boost/json/value.hpp>
#include <ostream>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cairn {

// Parses one JSON value that fills `text`. INVALID_ARGUMENT with line, column and reason otherwise,
// also for values nested too deep.
absl::StatusOr<boost::json::value> ParseJson(absl::string_view text);

// Prints `value` for people and for diff: two spaces a level, arrays of numbers on one line,
// members in their own order, a line's end after it.
void PrintJson(std::ostream& out, const boost::json::value& value);

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_JSON_TEXT_H_
