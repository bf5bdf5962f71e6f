#include "libs/config/yaml_scalar.h"

#include <google/protobuf/duration.pb.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

absl::Status Expected(absl::string_view what, absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("expected ", what, ", found \"", absl::CEscape(text.substr(0, 80)), "\""));
}

template <class T, class Set>
absl::Status SetNumber(absl::string_view text, absl::string_view what, Set set) {
  T value{};
  if (!absl::SimpleAtoi(text, &value)) return Expected(what, text);
  set(value);
  return absl::OkStatus();
}

absl::Status SetDuration(absl::string_view text, Message* duration) {
  absl::Duration value;
  if (!absl::ParseDuration(text, &value) || value < absl::ZeroDuration() ||
      value > absl::Hours(24 * 365)) {
    return Expected("a duration such as 250ms, 30s or 5m", text);
  }
  auto* typed = static_cast<google::protobuf::Duration*>(duration);
  typed->set_seconds(absl::ToInt64Seconds(value));
  typed->set_nanos(
      static_cast<std::int32_t>(absl::ToInt64Nanoseconds(value - absl::Seconds(typed->seconds()))));
  return absl::OkStatus();
}

// A YAML double-quoted scalar. Its escapes are not C's: no octal, and an apostrophe stands as it
// is.
std::string Quoted(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      absl::StrAppend(&out, "\\x", absl::Hex(c, absl::kZeroPad2));
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

}  // namespace

absl::StatusOr<std::uint64_t> ParseSize(absl::string_view text) {
  static constexpr struct {
    absl::string_view suffix;
    int shift;
  } kUnits[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
  absl::string_view digits = text;
  int shift = 0;
  for (const auto& unit : kUnits) {
    if (absl::EndsWith(text, unit.suffix)) {
      digits.remove_suffix(unit.suffix.size());
      shift = unit.shift;
    }
  }
  std::uint64_t value = 0;
  const bool is_number =
      !digits.empty() && std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit);
  if (!is_number || !absl::SimpleAtoi(digits, &value) || value > (UINT64_MAX >> shift)) {
    return Expected("a size in bytes, or with KiB, MiB, GiB or TiB", text);
  }
  return value << shift;
}

bool IsDuration(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         field.message_type()->full_name() == "google.protobuf.Duration";
}

absl::Status SetScalar(const FieldDescriptor& field, absl::string_view text, Message* message) {
  const google::protobuf::Reflection& reflection = *message->GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      if (text != "true" && text != "false") return Expected("true or false", text);
      reflection.SetBool(message, &field, text == "true");
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_STRING:
      if (field.is_repeated())
        reflection.AddString(message, &field, std::string(text));
      else
        reflection.SetString(message, &field, std::string(text));
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_UINT32:
      return SetNumber<std::uint32_t>(text, "a whole number from 0 to 4294967295",
                                      [&](auto v) { reflection.SetUInt32(message, &field, v); });
    case FieldDescriptor::CPPTYPE_INT32:
      return SetNumber<std::int32_t>(text, "a whole number",
                                     [&](auto v) { reflection.SetInt32(message, &field, v); });
    case FieldDescriptor::CPPTYPE_UINT64: {
      CAIRN_ASSIGN_OR_RETURN(const std::uint64_t value, ParseSize(text));
      reflection.SetUInt64(message, &field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (IsDuration(field)) {
        return SetDuration(text, reflection.MutableMessage(message, &field));
      }
      return Expected("a mapping", text);
    default:
      return absl::InternalError(
          absl::StrCat("no rule for fields of type ", field.cpp_type_name()));
  }
}

std::string ScalarText(const FieldDescriptor& field, const Message& message, int index) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, &field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(reflection.GetUInt32(message, &field));
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(reflection.GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(reflection.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_STRING:
      return Quoted(field.is_repeated() ? reflection.GetRepeatedString(message, &field, index)
                                        : reflection.GetString(message, &field));
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      const auto& duration =
          static_cast<const google::protobuf::Duration&>(reflection.GetMessage(message, &field));
      return absl::FormatDuration(absl::Seconds(duration.seconds()) +
                                  absl::Nanoseconds(duration.nanos()));
    }
    default:
      return "";
  }
}

}  // namespace cairn
