#ifndef CAIRN_TOOLS_CAIRNCTL_JSON_FIELDS_H_
#define CAIRN_TOOLS_CAIRNCTL_JSON_FIELDS_H_

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cairn {

// JsonFields reads the fields of one JSON object. Every error is INVALID_ARGUMENT and begins with
// the field's path from the case, such as `segments[1].base`. Does not own the value.
class JsonFields {
 public:
  // `path`: of the object, empty for the outermost.
  static absl::StatusOr<JsonFields> Of(const boost::json::value& value, std::string path);

  bool Has(absl::string_view name) const;
  absl::StatusOr<std::string> String(absl::string_view name) const;
  absl::StatusOr<std::string> HexBytes(absl::string_view name) const;  // raw bytes of a hex string
  absl::StatusOr<std::uint64_t> Number(absl::string_view name, std::uint64_t number_max) const;
  absl::StatusOr<const boost::json::array*> Array(absl::string_view name) const;
  absl::StatusOr<JsonFields> Object(absl::string_view name) const;
  // An error naming the first field that is not in `names`.
  absl::Status AllowOnly(std::initializer_list<absl::string_view> names) const;

  std::string PathOf(absl::string_view name) const;

 private:
  JsonFields(const boost::json::object& object, std::string path)
      : object_(&object), path_(std::move(path)) {}
  absl::StatusOr<const boost::json::value*> Find(absl::string_view name) const;

  const boost::json::object* object_;
  std::string path_;
};

// A whole number from 0 to `number_max`; the error names `path` and what was found.
absl::StatusOr<std::uint64_t> ReadNumber(const boost::json::value& value, absl::string_view path,
                                         std::uint64_t number_max);

absl::Status FieldError(absl::string_view path, absl::string_view fault);

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_JSON_FIELDS_H_
