#include "kernels/sk/emu/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define SK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SK_ASAN 1
#endif
#endif
#ifdef SK_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// -DSK_FIBER_UCONTEXT tries the fallback on x86-64.
#if defined(__x86_64__) && !defined(SK_FIBER_UCONTEXT)
#define SK_FIBER_ASM 1
#else
#define SK_FIBER_ASM 0
#include <ucontext.h>
#endif

// ---- The switch ---------------------------------------------------------------------------------

#if SK_FIBER_ASM
// cairn_sk_switch(void** from_sp, void* to_sp): pushes the six registers that a callee keeps,
// exchanges stack pointers, pops the other side's six and returns there.
asm(R"(
.text
.p2align 4
.globl cairn_sk_switch
.hidden cairn_sk_switch
.type cairn_sk_switch, @function
cairn_sk_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cairn_sk_switch, .-cairn_sk_switch
)");
extern "C" void cairn_sk_switch(void** from_sp, void* to_sp);
#endif

namespace cairn::sk::emu {

struct Fiber::Context {
  void* mapping = nullptr;  // guard page, then the stack; null for an OS thread's own fiber
  std::size_t mapping_bytes = 0;
  std::byte* stack = nullptr;
  std::size_t stack_bytes = 0;
  void (*entry)(void*) = nullptr;
  void* argument = nullptr;
#if SK_FIBER_ASM
  void* sp = nullptr;
#else
  ucontext_t ucontext;
#endif
#ifdef SK_ASAN
  void* fake_stack = nullptr;      // ASan's, of a fiber that is switched from
  const void* os_stack = nullptr;  // of an OS thread's own fiber, learnt at the first switch
  std::size_t os_stack_bytes = 0;
#endif
};

namespace {

// The first thing a started fiber needs is itself, and the one it came from; a switch leaves them
// here.
thread_local Fiber* switched_from = nullptr;
thread_local Fiber* switched_to = nullptr;

}  // namespace

Fiber::Fiber() : context_(std::make_unique<Context>()) {}

std::unique_ptr<Fiber> Fiber::Create(std::size_t stack_bytes) {
  const std::size_t guard = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (stack_bytes + guard - 1) / guard * guard;
  void* mapping = mmap(nullptr, bytes + guard, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto fiber = std::make_unique<Fiber>();
  fiber->context_->mapping = mapping;
  fiber->context_->mapping_bytes = bytes + guard;
  fiber->context_->stack = static_cast<std::byte*>(mapping) + guard;
  fiber->context_->stack_bytes = bytes;
  if (mprotect(mapping, guard, PROT_NONE) != 0) return nullptr;
  return fiber;
}

Fiber::~Fiber() {
  if (context_->mapping == nullptr) return;
#ifdef SK_ASAN
  __asan_unpoison_memory_region(context_->stack, context_->stack_bytes);
#endif
  munmap(context_->mapping, context_->mapping_bytes);
}

void Fiber::Start(void (*entry)(void*), void* argument) {
  Context& context = *context_;
  context.entry = entry;
  context.argument = argument;
#ifdef SK_ASAN
  // Red zones of what ran here before and was dropped.
  __asan_unpoison_memory_region(context.stack, context.stack_bytes);
  context.fake_stack = nullptr;
#endif
  void (*begin)() = [] {
    Context& self = *switched_to->context_;
#ifdef SK_ASAN
    Context& from = *switched_from->context_;
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(self.fake_stack, &bottom, &bytes);
    if (from.mapping == nullptr) from.os_stack = bottom, from.os_stack_bytes = bytes;
#endif
    self.entry(self.argument);
    __builtin_trap();  // entry returned
  };
#if SK_FIBER_ASM
  // As the switch wants it: six registers of no matter and `begin` to return to; above that, where
  // `begin` looks for its return address, a null. There rsp + 8 is a multiple of 16, as after a
  // call.
  auto* top = reinterpret_cast<std::uint64_t*>(context.stack + context.stack_bytes);
  *--top = 0;
  *--top = reinterpret_cast<std::uint64_t>(begin);
  for (int i = 0; i < 6; ++i) *--top = 0;
  context.sp = top;
#else
  getcontext(&context.ucontext);
  context.ucontext.uc_stack.ss_sp = context.stack;
  context.ucontext.uc_stack.ss_size = context.stack_bytes;
  context.ucontext.uc_link = nullptr;
  makecontext(&context.ucontext, begin, 0);
#endif
}

namespace {
#ifdef SK_ASAN
void TellSanitizer(void** fake_stack, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
}
#endif
}  // namespace

void Fiber::Switch(Fiber& from_fiber, Fiber& to_fiber) {
  Context& from = *from_fiber.context_;
  Context& to = *to_fiber.context_;
  switched_from = &from_fiber;
  switched_to = &to_fiber;
#ifdef SK_ASAN
  const bool is_os = to.mapping == nullptr;
  TellSanitizer(&from.fake_stack, is_os ? to.os_stack : to.stack,
                is_os ? to.os_stack_bytes : to.stack_bytes);
#endif
#if SK_FIBER_ASM
  cairn_sk_switch(&from.sp, to.sp);
#else
  swapcontext(&from.ucontext, &to.ucontext);
#endif
#ifdef SK_ASAN
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

void Fiber::SwitchForGood(Fiber& from_fiber, Fiber& to_fiber) {
#ifdef SK_ASAN
  Context& to = *to_fiber.context_;
  const bool is_os = to.mapping == nullptr;
  switched_from = &from_fiber;
  switched_to = &to_fiber;
  TellSanitizer(nullptr, is_os ? to.os_stack : to.stack,  // null: this fiber's fake stack may go
                is_os ? to.os_stack_bytes : to.stack_bytes);
#if SK_FIBER_ASM
  cairn_sk_switch(&from_fiber.context_->sp, to.sp);
#else
  setcontext(&to.ucontext);
#endif
  __builtin_trap();
#else
  Switch(from_fiber, to_fiber);
#endif
}

}  // namespace cairn::sk::emu
