#include "libs/base/mark.h"

#include <algorithm>
#include <map>

#include "libs/base/mutex.h"

namespace cairn {
namespace {

struct MarkList {
  Mutex mutex;
  std::vector<const Mark*> marks CAIRN_GUARDED_BY(mutex);
};

// Never destroyed: marks may be hit while other statics go down.
MarkList& List() {
  static MarkList* const list = new MarkList;
  return *list;
}

}  // namespace

Mark::Mark(const char* name) : name_(name) {
  MarkList& list = List();
  MutexLock lock(list.mutex);
  list.marks.push_back(this);
}

std::vector<MarkCount> MarkCounts() {
  MarkList& list = List();
  MutexLock lock(list.mutex);
  std::map<std::string, std::uint64_t> sums;  // one name may stand in several places (templates)
  for (const Mark* mark : list.marks) sums[mark->name()] += mark->hits();
  std::vector<MarkCount> out;
  out.reserve(sums.size());
  for (const auto& [name, hits] : sums) out.push_back({name, hits});
  return out;
}

}  // namespace cairn
