#include "tools/cairnctl/json_fields.h"

#include <algorithm>
#include <boost/json/kind.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/hex.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

// Names come from the file: short, and with nothing that a terminal would act on.
std::string Quoted(absl::string_view name) {
  constexpr std::size_t kShownMax = 80;
  std::string shown = boost::json::serialize(
      boost::json::value(boost::json::string_view(name.data(), std::min(name.size(), kShownMax))));
  if (name.size() > kShownMax) shown += "...";
  return shown;
}

std::string Found(const boost::json::value& value) {
  if (value.is_number()) return boost::json::serialize(value);
  const boost::json::string_view kind = boost::json::to_string(value.kind());
  return absl::StrCat("a value of type ", absl::string_view(kind.data(), kind.size()));
}

}  // namespace

absl::Status FieldError(absl::string_view path, absl::string_view fault) {
  return absl::InvalidArgumentError(path.empty() ? std::string(fault)
                                                 : absl::StrCat(path, ": ", fault));
}

absl::StatusOr<std::uint64_t> ReadNumber(const boost::json::value& value, absl::string_view path,
                                         std::uint64_t number_max) {
  std::uint64_t number = number_max;
  bool is_whole = false;
  if (const std::int64_t* i = value.if_int64(); i != nullptr && *i >= 0) {
    number = static_cast<std::uint64_t>(*i);
    is_whole = true;
  } else if (const std::uint64_t* u = value.if_uint64(); u != nullptr) {
    number = *u;
    is_whole = true;
  }
  if (is_whole && number <= number_max) return number;
  return FieldError(
      path, absl::StrCat("must be a whole number from 0 to ", number_max, ", not ", Found(value)));
}

absl::StatusOr<JsonFields> JsonFields::Of(const boost::json::value& value, std::string path) {
  if (!value.is_object()) {
    return FieldError(path, absl::StrCat("must be an object, not ", Found(value)));
  }
  return JsonFields(value.get_object(), std::move(path));
}

std::string JsonFields::PathOf(absl::string_view name) const {
  return path_.empty() ? std::string(name) : absl::StrCat(path_, ".", name);
}

bool JsonFields::Has(absl::string_view name) const {
  return object_->contains(boost::json::string_view(name.data(), name.size()));
}

absl::StatusOr<const boost::json::value*> JsonFields::Find(absl::string_view name) const {
  const boost::json::value* value =
      object_->if_contains(boost::json::string_view(name.data(), name.size()));
  if (value == nullptr) return FieldError(PathOf(name), "missing");
  return value;
}

absl::StatusOr<std::string> JsonFields::String(absl::string_view name) const {
  CAIRN_ASSIGN_OR_RETURN(const boost::json::value* value, Find(name));
  if (!value->is_string()) {
    return FieldError(PathOf(name), absl::StrCat("must be a string, not ", Found(*value)));
  }
  const boost::json::string& text = value->get_string();
  return std::string(text.data(), text.size());
}

absl::StatusOr<std::string> JsonFields::HexBytes(absl::string_view name) const {
  CAIRN_ASSIGN_OR_RETURN(const std::string text, String(name));
  absl::StatusOr<std::string> bytes = FromHex(text);
  if (!bytes.ok()) return FieldError(PathOf(name), bytes.status().message());
  return bytes;
}

absl::StatusOr<std::uint64_t> JsonFields::Number(absl::string_view name,
                                                 std::uint64_t number_max) const {
  CAIRN_ASSIGN_OR_RETURN(const boost::json::value* value, Find(name));
  return ReadNumber(*value, PathOf(name), number_max);
}

absl::StatusOr<const boost::json::array*> JsonFields::Array(absl::string_view name) const {
  CAIRN_ASSIGN_OR_RETURN(const boost::json::value* value, Find(name));
  if (!value->is_array()) {
    return FieldError(PathOf(name), absl::StrCat("must be an array, not ", Found(*value)));
  }
  return &value->get_array();
}

absl::StatusOr<JsonFields> JsonFields::Object(absl::string_view name) const {
  CAIRN_ASSIGN_OR_RETURN(const boost::json::value* value, Find(name));
  return Of(*value, PathOf(name));
}

absl::Status JsonFields::AllowOnly(std::initializer_list<absl::string_view> names) const {
  for (const auto& member : *object_) {
    const absl::string_view name(member.key().data(), member.key().size());
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return FieldError(path_, absl::StrCat("unknown field ", Quoted(name)));
    }
  }
  return absl::OkStatus();
}

}  // namespace cairn
