#ifndef CAIRN_LIBS_CLIENT_GATE_H_
#define CAIRN_LIBS_CLIENT_GATE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "libs/base/check.h"
#include "libs/ports/loop.h"

namespace cairn {

// Gate counts what must have ended before its owner may be destroyed: calls, loans, callbacks on
// their way. Each holds a Pass, which may outlive the gate where a loop crashed and kept the task.
// Threads: one loop.
class Gate {
 private:
  struct State {
    explicit State(Loop& l) : loop(l) {}
    Loop& loop;
    std::uint64_t inside = 0;
    Task on_empty;
  };

 public:
  class Pass {
   public:
    Pass() = default;
    explicit Pass(Gate& gate) : state_(gate.state_) { ++state_->inside; }
    Pass(Pass&& other) noexcept = default;
    Pass& operator=(Pass&& other) noexcept {
      std::swap(state_, other.state_);
      return *this;
    }
    ~Pass() {
      if (state_ != nullptr) Leave(state_);
    }

   private:
    std::shared_ptr<State> state_;
  };

  explicit Gate(Loop& loop) : state_(std::make_shared<State>(loop)) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Posts `on_empty` as soon as nothing is inside. Once.
  void Close(Task on_empty) {
    CAIRN_CHECK(!is_closed_);
    is_closed_ = true;
    state_->on_empty = std::move(on_empty);
    if (state_->inside == 0) TellWhenEmpty(state_);
  }
  bool is_empty() const { return state_->inside == 0; }

 private:
  static void Leave(const std::shared_ptr<State>& state) {
    CAIRN_CHECK(state->inside > 0);
    if (--state->inside == 0 && state->on_empty != nullptr) TellWhenEmpty(state);
  }
  // Someone may have entered again by the time the task runs; then their leaving comes here again.
  static void TellWhenEmpty(const std::shared_ptr<State>& state) {
    state->loop.Post([state] {
      if (state->inside == 0 && state->on_empty != nullptr) {
        std::exchange(state->on_empty, nullptr)();
      }
    });
  }

  const std::shared_ptr<State> state_;
  bool is_closed_ = false;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_GATE_H_
