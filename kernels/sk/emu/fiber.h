#ifndef CAIRN_KERNELS_SK_EMU_FIBER_H_
#define CAIRN_KERNELS_SK_EMU_FIBER_H_

#include <cstddef>
#include <memory>

namespace cairn::sk::emu {

// Fiber is one thread of control with a stack of its own, on the OS thread that switches to it.
//
// The switch saves what the calling convention says that a function keeps, and no floating-point
// control words: kernels do not change them, and reloading them costs more than all else. On other
// processors than x86-64 it is ucontext's.
// AddressSanitizer is told of every switch. A fiber that is never resumed is simply dropped: what
// lives on its stack is not destroyed.
class Fiber {
 public:
  // The fiber of the OS thread itself: has no stack to own; only ever switched from and back to.
  Fiber();
  // Its stack ends in a guard page. Null when memory is short.
  static std::unique_ptr<Fiber> Create(std::size_t stack_bytes);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The next switch to this fiber calls entry(argument), which must not return, but switch away
  // for good by SwitchForGood. Whatever ran on the stack before is dropped.
  void Start(void (*entry)(void*), void* argument);

  // Goes on in `to`; returns when something switches back to `from`, the running fiber.
  static void Switch(Fiber& from, Fiber& to);
  static void SwitchForGood(Fiber& from, Fiber& to);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace cairn::sk::emu

#endif  // CAIRN_KERNELS_SK_EMU_FIBER_H_
