#ifndef CAIRN_KERNELS_INTERPRETER_GROUPS_H_
#define CAIRN_KERNELS_INTERPRETER_GROUPS_H_

#include <cstddef>
#include <deque>
#include <utility>

namespace cairn::interpreter {

// Asynchronous work of a thread (copies, bulk stores) or of a warp (wgmma), as it is gathered into
// groups and waited for. It is done at once here, so this only tells whether anybody waited.
class Groups {
 public:
  void Add() { is_open_ = true; }
  void Commit() { groups_.push_back(std::exchange(is_open_, false)); }
  // Until `left` groups at most are under way.
  void Wait(std::size_t left) {
    while (groups_.size() > left) groups_.pop_front();
  }
  bool has_work() const {
    for (const bool has_any : groups_) {
      if (has_any) return true;
    }
    return is_open_;
  }

 private:
  bool is_open_ = false;     // something was added since the last Commit
  std::deque<bool> groups_;  // oldest first: is there anything in it?
};

}  // namespace cairn::interpreter
#endif  // CAIRN_KERNELS_INTERPRETER_GROUPS_H_
