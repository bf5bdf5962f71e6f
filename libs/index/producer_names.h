#ifndef CAIRN_LIBS_INDEX_PRODUCER_NAMES_H_
#define CAIRN_LIBS_INDEX_PRODUCER_NAMES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "libs/base/ids.h"

namespace cairn {

// ProducerNames numbers the names that sessions give themselves in HELLO, so that an entry can name
// its producer long after the session ended. A name keeps its number for the life of the process;
// at `names_max` new names share kOtherProducer. One per node. Threads: one owner.
class ProducerNames {
 public:
  explicit ProducerNames(std::size_t names_max);
  ProducerId NumberOf(absl::string_view name);
  const std::string& NameOf(ProducerId id) const;

 private:
  const std::size_t names_max_;
  std::vector<std::string> names_;  // by number
  absl::flat_hash_map<std::string, ProducerId> numbers_;
};
inline constexpr ProducerId kOtherProducer{0};

}  // namespace cairn
#endif  // CAIRN_LIBS_INDEX_PRODUCER_NAMES_H_
