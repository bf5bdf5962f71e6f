#ifndef CAIRN_LIBS_BASE_MARK_H_
#define CAIRN_LIBS_BASE_MARK_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

// CAIRN_COVERED("pin_lost_midpull") marks a branch that is rare in production. The simulation fails
// when a mark that it knows of is never hit across a run, so rare branches are proven to be tested.
// Cost: one relaxed increment.

namespace cairn {

class Mark {
 public:
  explicit Mark(const char* name);
  void Hit() { hits_.fetch_add(1, std::memory_order_relaxed); }
  const char* name() const { return name_; }
  std::uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }

 private:
  const char* name_;
  std::atomic<std::uint64_t> hits_{0};
};

// Names and hits of all marks reached so far in this process, by name. (A mark registers when its
// branch first runs: what must be reached is listed by the test, from tools/tidy --marks.)
struct MarkCount {
  std::string name;
  std::uint64_t hits = 0;
};
std::vector<MarkCount> MarkCounts();

}  // namespace cairn

#define CAIRN_COVERED(name)                \
  do {                                     \
    static ::cairn::Mark cairn_mark(name); \
    cairn_mark.Hit();                      \
  } while (false)

#endif  // CAIRN_LIBS_BASE_MARK_H_
