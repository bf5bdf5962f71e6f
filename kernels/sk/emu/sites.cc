#include "kernels/sk/emu/sites.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

namespace cairn::sk::emu {
namespace {

// Whether `wanted` is `name` or ends it at a folder's border.
bool Names(const std::string& wanted, const std::string& name) {
  if (wanted.empty() || wanted.size() > name.size()) return false;
  const std::size_t at = name.size() - wanted.size();
  return name.compare(at, wanted.size(), wanted) == 0 && (at == 0 || name[at - 1] == '/');
}

}  // namespace

bool AreSame(Site a, Site b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

std::string SiteName(Site site) {
  std::string file = site.file;
  const std::size_t at = file.rfind("kernels/");
  if (at != std::string::npos) file.erase(0, at);
  return file + ":" + std::to_string(site.line);
}

SiteTable::Entry& SiteTable::Find(const Key& key) {
  const auto [it, is_new] = entries_.try_emplace(key);
  if (is_new) {
    const std::string name = SiteName({key.file, key.line});
    it->second.is_skipped = Names(options_.skip_site, name);
    it->second.is_lessened = Names(options_.less_site, name);
    it->second.shift = Names(options_.up_site, name) ? 1 : Names(options_.down_site, name) ? -1 : 0;
  }
  return it->second;
}

std::vector<SiteUse> SiteTable::Uses() const {
  // One source line may have several keys: a header's file name can exist once for each object
  // file.
  std::map<std::tuple<std::string, int, std::string>, std::uint64_t> merged;
  for (const auto& [key, entry] : entries_) {
    std::string name = SiteName({key.file, key.line});
    name.erase(name.rfind(':'));
    merged[{std::move(name), key.line, key.operation}] += entry.count;
  }
  std::vector<SiteUse> uses;
  for (const auto& [key, count] : merged) {
    const auto& [file, line, operation] = key;
    uses.push_back({file + ":" + std::to_string(line), operation, count});
  }
  return uses;
}

}  // namespace cairn::sk::emu
