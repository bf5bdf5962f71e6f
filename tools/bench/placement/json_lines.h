#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_JSON_LINES_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_JSON_LINES_H_

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "libs/mapped_file/mapped_file.h"

namespace cairn::bench {

// One JSON object and where it stood. Every error of its fields is INVALID_ARGUMENT and begins with
// that place: `trace.jsonl:17: input_length: ...`.
class JsonRecord {
 public:
  JsonRecord(boost::json::object object, std::string place)
      : object_(std::move(object)), place_(std::move(place)) {}

  bool Has(absl::string_view name) const { return Find(name) != nullptr; }
  // A whole number from 0 to number_max.
  absl::StatusOr<std::uint64_t> Number(absl::string_view name, std::uint64_t number_max) const;
  // At most bytes_max of text.
  absl::StatusOr<std::string> Text(absl::string_view name, std::size_t bytes_max) const;
  // The field's array, of at most items_max. Valid as long as the record.
  absl::StatusOr<const boost::json::array*> Array(absl::string_view name,
                                                  std::size_t items_max) const;
  // The same, of whole numbers from 0 to number_max.
  absl::StatusOr<std::vector<std::uint64_t>> Numbers(absl::string_view name, std::size_t items_max,
                                                     std::uint64_t number_max) const;
  absl::Status Error(absl::string_view field, absl::string_view what) const;

 private:
  const boost::json::value* Find(absl::string_view name) const;

  boost::json::object object_;
  std::string place_;
};

// The lines of a file, each a JSON object; blank lines are passed over. The file is mapped, not
// read: memory is that of one line. INVALID_ARGUMENT names file and line: no object, no JSON, more
// than limits::kLineBytesMax.
class JsonLines {
 public:
  // INVALID_ARGUMENT: no such file, not a regular one, not readable, or empty.
  static absl::StatusOr<JsonLines> Open(const std::string& path);

  // The next line's object; nothing at the end.
  absl::StatusOr<std::optional<JsonRecord>> Next();
  double ReadShare() const;  // of the file so far, 0..1

 private:
  JsonLines(std::string path, MappedFile file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  MappedFile file_;
  std::size_t offset_ = 0;
  std::size_t line_ = 0;
};

// A whole file as one JSON object. The same errors.
absl::StatusOr<JsonRecord> ReadJsonObject(const std::string& path);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_JSON_LINES_H_
