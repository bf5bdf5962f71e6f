#ifndef CAIRN_TOOLS_CAIRNCTL_TABLE_H_
#define CAIRN_TOOLS_CAIRNCTL_TABLE_H_

#include <google/protobuf/duration.pb.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace cairn {

// Rows of text in aligned columns; the first row names them.
class Table {
 public:
  explicit Table(std::vector<std::string> names) { rows_.push_back(std::move(names)); }
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::size_t rows() const { return rows_.size() - 1; }
  void Print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// For people: "1.5 GiB", "3m2s", and text from outside as one word that no terminal acts on.
std::string ShowBytes(std::uint64_t bytes);
std::string ShowDuration(const google::protobuf::Duration& duration);
std::string ShowText(const std::string& text);

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_TABLE_H_
