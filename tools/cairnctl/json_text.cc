#include "tools/cairnctl/json_text.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/stream_parser.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cairn {
namespace {

constexpr std::size_t kDepthMax = 16;

absl::Status ErrorAt(absl::string_view text, std::size_t offset, absl::string_view reason) {
  const absl::string_view before = text.substr(0, offset);
  const std::size_t line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n');
  const std::size_t column =
      line_start == absl::string_view::npos ? offset + 1 : offset - line_start;
  return absl::InvalidArgumentError(
      absl::StrCat("not JSON at line ", line, ", column ", column, ": ", reason));
}

bool IsNumberArray(const boost::json::array& array) {
  return std::all_of(array.begin(), array.end(),
                     [](const boost::json::value& v) { return v.is_number(); });
}

void Print(std::ostream& out, const boost::json::value& value, std::size_t depth);

template <class Container, class PrintItem>
void PrintItems(std::ostream& out, const Container& items, std::size_t depth, char open, char close,
                PrintItem print_item) {
  out << open;
  bool is_first = true;
  for (const auto& item : items) {
    out << (is_first ? "\n" : ",\n") << std::string(2 * (depth + 1), ' ');
    print_item(item);
    is_first = false;
  }
  out << "\n" << std::string(2 * depth, ' ') << close;
}

void Print(std::ostream& out, const boost::json::value& value, std::size_t depth) {
  if (const boost::json::object* object = value.if_object(); object && !object->empty()) {
    PrintItems(out, *object, depth, '{', '}', [&](const auto& member) {
      out << boost::json::serialize(boost::json::value(member.key())) << ": ";
      Print(out, member.value(), depth + 1);
    });
    return;
  }
  const boost::json::array* array = value.if_array();
  if (array == nullptr || array->empty()) {
    out << boost::json::serialize(value);
  } else if (IsNumberArray(*array)) {
    const char* separator = "[";
    for (const boost::json::value& number : *array) {
      out << separator << boost::json::serialize(number);
      separator = ", ";
    }
    out << ']';
  } else {
    PrintItems(out, *array, depth, '[', ']',
               [&](const boost::json::value& item) { Print(out, item, depth + 1); });
  }
}

}  // namespace

absl::StatusOr<boost::json::value> ParseJson(absl::string_view text) {
  boost::json::parse_options options;
  options.max_depth = kDepthMax;
  boost::json::stream_parser parser({}, options);
  boost::json::error_code error;
  const std::size_t parsed = parser.write_some(text.data(), text.size(), error);
  if (error) return ErrorAt(text, parsed, error.message());
  if (parsed < text.size()) return ErrorAt(text, parsed, "more text after the value");
  parser.finish(error);
  if (error) return ErrorAt(text, parsed, "the text ends too early");
  return parser.release();
}

void PrintJson(std::ostream& out, const boost::json::value& value) {
  Print(out, value, 0);
  out << "\n";
}

}  // namespace cairn
