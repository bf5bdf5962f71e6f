#ifndef CAIRN_KERNELS_SK_EMU_SITES_H_
#define CAIRN_KERNELS_SK_EMU_SITES_H_

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/sk/emu/machine.h"

namespace cairn::sk::emu {

// "kernels/attention/decode.h:12": the path from its last "kernels/" on, so that it does not depend
// on where the tree lies.
std::string SiteName(Site site);
bool AreSame(Site a, Site b);

// SiteTable counts what is reached, and knows which sites mutations ask for.
class SiteTable {
 public:
  struct Entry {
    std::uint64_t count = 0;
    bool is_skipped = false;
    bool is_lessened = false;
    int shift = 0;
  };
  // `options` outlives the table.
  explicit SiteTable(const Options& options) : options_(options) {}

  // `operation` is a literal.
  const Entry& Visit(Site site, const char* operation) {
    const Key key{site.file, operation, site.line};
    Recent& recent = recent_[Hash()(key) / 8 % recent_.size()];
    if (recent.entry == nullptr || !(recent.key == key)) recent = {key, &Find(key)};
    ++recent.entry->count;
    return *recent.entry;
  }
  std::vector<SiteUse> Uses() const;

 private:
  struct Key {
    const char* file;
    const char* operation;
    int line;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return reinterpret_cast<std::size_t>(key.file) * 31 +
             reinterpret_cast<std::size_t>(key.operation) + static_cast<std::size_t>(key.line) * 8;
    }
  };
  struct Recent {
    Key key;
    Entry* entry = nullptr;
  };
  Entry& Find(const Key& key);

  const Options& options_;
  std::array<Recent, 64> recent_;  // every lane comes by here at every operation
  std::unordered_map<Key, Entry, Hash> entries_;
};

}  // namespace cairn::sk::emu

#endif  // CAIRN_KERNELS_SK_EMU_SITES_H_
