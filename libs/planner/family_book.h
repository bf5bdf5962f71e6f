#ifndef CAIRN_LIBS_PLANNER_FAMILY_BOOK_H_
#define CAIRN_LIBS_PLANNER_FAMILY_BOOK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "libs/base/bytes.h"
#include "libs/placement/expert_panel.h"
#include "libs/placement/limits.h"
#include "libs/placement/rate_table.h"

namespace cairn::planner {

// What each family has shown: how the experts fared on it, and how far before an entry's end its
// requests parted. Whose rule a family follows is decided here.
//
// A new family follows who does best over all; its own savings take over as they come, and from
// kEstablished requests on nobody else's count. One family is heard in the scores of all for its
// first kEstablished requests only, each as a share of what it could have saved: no length and no
// number of requests moves another family by more.
//
// Memory: at most families_max + 1 families, the least recently used goes; each about 400 bytes and
// 16 a bin of distances, of which there are at most 45. Threads: one owner.
class FamilyBook {
 public:
  static constexpr std::uint64_t kEstablished = 256;  // requests
  static constexpr double kPoolRequests = 64;         // what all families weigh in a new one

  struct Family {
    std::uint64_t requests = 0;
    std::uint64_t claims = 0;
    std::uint64_t served = 0;
    std::uint64_t censored = 0;
    std::uint64_t ceiling = 0;  // blocks
    std::uint64_t thinned = 0;  // that were only counted
    std::uint64_t seen = 0;     // since the planner started, thinned ones included
    double credit = 0;          // weight that has not made a whole request yet
    std::array<std::uint64_t, placement::limits::kExpertsMax> saved = {};  // blocks, by expert
    std::array<std::uint64_t, placement::limits::kExpertsMax> states = {};
    placement::RateTable distances;
  };

  FamilyBook(std::size_t families_max, std::size_t experts)
      : families_max_(families_max), experts_(experts) {}

  // Finds or makes it, and makes it the most recently used. Valid until the next Touch.
  Family& Touch(std::uint64_t family);
  const Family* Find(std::uint64_t family) const;  // null: not known
  // `requests` of `family` could have saved `shared` blocks each; the panel says what each world
  // saved.
  void Count(std::uint64_t family, std::uint32_t shared,
             const std::vector<placement::ExpertPanel::InWorld>& worlds,
             std::uint32_t requests = 1);

  std::size_t LeaderOf(std::uint64_t family) const;
  double PooledShare(std::size_t expert) const;

  // From the most recently used on, while `visit` says true.
  void ForEach(const std::function<bool(std::uint64_t, const Family&)>& visit) const;
  std::size_t size() const { return families_.size(); }
  std::uint64_t evicted() const { return evicted_; }

  // As bytes, least recently used first; of more families than families_max the most recent stay.
  // Load leaves the reader marked bad if Save wrote something else.
  void Save(ByteWriter& out) const;
  void Load(ByteReader& in);

 private:
  struct Node {
    Family family;
    std::list<std::uint64_t>::iterator use;
  };
  void SaveFamily(const Family& family, ByteWriter& out) const;
  void LoadFamily(ByteReader& in, Family& family) const;

  std::size_t families_max_;
  std::size_t experts_;
  absl::flat_hash_map<std::uint64_t, Node> families_;
  std::list<std::uint64_t> uses_;  // least recent first
  std::uint64_t evicted_ = 0;
  std::array<double, placement::limits::kExpertsMax> pooled_ = {};  // sums of shares
  double pooled_requests_ = 0;
};

}  // namespace cairn::planner
#endif  // CAIRN_LIBS_PLANNER_FAMILY_BOOK_H_
