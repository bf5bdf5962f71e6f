#include "tools/bench/placement/json_lines.h"

#include <algorithm>
#include <boost/json/stream_parser.hpp>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "tools/bench/placement/limits.h"

namespace cairn::bench {
namespace {

// What a message shows of a value that is not what it should be.
std::string Shown(const boost::json::value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_null()) return "null";
  if (value.is_bool()) return value.get_bool() ? "true" : "false";
  if (value.is_int64()) return absl::StrCat(value.get_int64());
  if (value.is_uint64()) return absl::StrCat(value.get_uint64());
  if (value.is_double()) return absl::StrCat(value.get_double());
  return "a text";
}

std::optional<std::uint64_t> WholeNumber(const boost::json::value& value) {
  if (value.is_uint64()) return value.get_uint64();
  if (value.is_int64() && value.get_int64() >= 0) {
    return static_cast<std::uint64_t>(value.get_int64());
  }
  return std::nullopt;
}

absl::StatusOr<boost::json::object> ParseObject(absl::string_view text, absl::string_view place) {
  boost::json::parse_options options;
  options.max_depth = limits::kJsonDepthMax;
  boost::json::stream_parser parser({}, options);
  boost::json::error_code error;
  std::size_t used = parser.write_some(text.data(), text.size(), error);
  if (!error && used < text.size()) error = boost::json::error::extra_data;
  if (!error) parser.finish(error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": no JSON (byte ", used + 1, "): ", error.message()));
  }
  boost::json::value value = parser.release();
  if (!value.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(place, ": an object, not ", Shown(value)));
  }
  return std::move(value.get_object());
}

absl::StatusOr<MappedFile> OpenFile(const std::string& path) {
  absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return absl::InvalidArgumentError(file.status().message());
  return file;
}

absl::string_view TextOf(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

const boost::json::value* JsonRecord::Find(absl::string_view name) const {
  return object_.if_contains(boost::json::string_view(name.data(), name.size()));
}

absl::Status JsonRecord::Error(absl::string_view field, absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(place_, ": ", field, ": ", what));
}

absl::StatusOr<std::uint64_t> JsonRecord::Number(absl::string_view name,
                                                 std::uint64_t number_max) const {
  const boost::json::value* const value = Find(name);
  if (value == nullptr) return Error(name, "missing");
  const std::optional<std::uint64_t> number = WholeNumber(*value);
  if (number.has_value() && *number <= number_max) return *number;
  return Error(name,
               absl::StrCat("a whole number from 0 to ", number_max, ", not ", Shown(*value)));
}

absl::StatusOr<std::string> JsonRecord::Text(absl::string_view name, std::size_t bytes_max) const {
  const boost::json::value* const value = Find(name);
  if (value == nullptr) return Error(name, "missing");
  if (!value->is_string()) return Error(name, absl::StrCat("a text, not ", Shown(*value)));
  const boost::json::string& text = value->get_string();
  if (text.size() > bytes_max) {
    return Error(name, absl::StrCat("a text of ", text.size(), " bytes; at most ", bytes_max));
  }
  return std::string(text.data(), text.size());
}

absl::StatusOr<const boost::json::array*> JsonRecord::Array(absl::string_view name,
                                                            std::size_t items_max) const {
  const boost::json::value* const value = Find(name);
  if (value == nullptr) return Error(name, "missing");
  if (!value->is_array()) return Error(name, absl::StrCat("an array, not ", Shown(*value)));
  if (value->get_array().size() > items_max) {
    return Error(name, absl::StrCat(value->get_array().size(), " items; at most ", items_max));
  }
  return &value->get_array();
}

absl::StatusOr<std::vector<std::uint64_t>> JsonRecord::Numbers(absl::string_view name,
                                                               std::size_t items_max,
                                                               std::uint64_t number_max) const {
  CAIRN_ASSIGN_OR_RETURN(const boost::json::array* const array, Array(name, items_max));
  std::vector<std::uint64_t> numbers;
  numbers.reserve(array->size());
  for (const boost::json::value& item : *array) {
    const std::optional<std::uint64_t> number = WholeNumber(item);
    if (!number.has_value() || *number > number_max) {
      return Error(absl::StrCat(name, "[", numbers.size(), "]"),
                   absl::StrCat("a whole number from 0 to ", number_max, ", not ", Shown(item)));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

absl::StatusOr<JsonLines> JsonLines::Open(const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(MappedFile file, OpenFile(path));
  return JsonLines(path, std::move(file));
}

absl::StatusOr<std::optional<JsonRecord>> JsonLines::Next() {
  const absl::string_view text = TextOf(file_);
  while (offset_ < text.size()) {
    const std::size_t end = std::min(text.find('\n', offset_), text.size());
    const absl::string_view line = text.substr(offset_, end - offset_);
    offset_ = std::min(end + 1, text.size());
    const std::string place = absl::StrCat(path_, ":", ++line_);
    if (line.size() > limits::kLineBytesMax) {
      return absl::InvalidArgumentError(absl::StrCat(place, ": a line of ", line.size(),
                                                     " bytes; at most ", limits::kLineBytesMax));
    }
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    CAIRN_ASSIGN_OR_RETURN(boost::json::object object, ParseObject(line, place));
    return std::optional<JsonRecord>(JsonRecord(std::move(object), place));
  }
  return std::optional<JsonRecord>();
}

double JsonLines::ReadShare() const {
  return static_cast<double>(offset_) / static_cast<double>(file_.bytes().size());
}

absl::StatusOr<JsonRecord> ReadJsonObject(const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const MappedFile file, OpenFile(path));
  if (file.bytes().size() > limits::kJsonFileBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", file.bytes().size(),
                                                   " bytes; at most ", limits::kJsonFileBytesMax));
  }
  CAIRN_ASSIGN_OR_RETURN(boost::json::object object, ParseObject(TextOf(file), path));
  return JsonRecord(std::move(object), path);
}

}  // namespace cairn::bench
