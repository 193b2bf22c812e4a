#include "unwind.hpp"

#include <ucontext.h>
#include <unwind.h>

#if defined(__x86_64__)

// A frame that appears to have been called from where a fiber was left: its unwind information says
// that the caller's registers are where jump_fcontext (Boost.Context on x86-64, System V ABI) has
// saved them: r12 to r15, rbx, rbp and the return address, from the second word of the context on.
asm(R"(
  .pushsection .text
  .hidden basal_unwind_left
  .globl basal_unwind_left
  .type basal_unwind_left, @function
basal_unwind_left:
  .cfi_startproc
  pushq %rbx
  .cfi_def_cfa_offset 16
  .cfi_offset rbx, -16
  movq %rdi, %rbx
  .cfi_remember_state
  .cfi_def_cfa rbx, 64
  .cfi_offset rbp, -16
  .cfi_offset rbx, -24
  .cfi_offset r15, -32
  .cfi_offset r14, -40
  .cfi_offset r13, -48
  .cfi_offset r12, -56
  movq %rsi, %rdi
  movq %rdx, %rsi
  call _Unwind_Backtrace@PLT
  .cfi_restore_state
  popq %rbx
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
  .size basal_unwind_left, . - basal_unwind_left
  .popsection
)");

extern "C" int basal_unwind_left(const void* context, _Unwind_Trace_Fn each, void* argument);

#endif

namespace basal::executors {

namespace {

struct collected {
  std::uintptr_t* to;
  std::size_t capacity;
  std::size_t count = 0;
  std::uintptr_t begin = 0; ///< frames before this address are left out; 0: none are
  std::size_t left_out = 0; ///< this number of frames is, too
};

[[maybe_unused]] _Unwind_Reason_Code collect(_Unwind_Context* frame, void* argument) {
  auto& c = *static_cast<collected*>(argument);
  const std::uintptr_t at = _Unwind_GetIP(frame);
  if (at == 0 || c.count == c.capacity)
    return _URC_END_OF_STACK;
  if (c.left_out > 0) {
    --c.left_out;
    return _URC_NO_REASON;
  }
  if (c.begin != 0 && c.begin != at)
    return _URC_NO_REASON;
  c.begin = 0;
  c.to[c.count++] = at;
  return _URC_NO_REASON;
}

} // namespace

#if defined(__x86_64__)

std::size_t unwind::left(const void* context, std::uintptr_t* to, std::size_t capacity) noexcept {
  collected c{to, capacity};
  c.left_out = 1; // basal_unwind_left itself
  basal_unwind_left(context, collect, &c);
  return c.count;
}

std::size_t unwind::interrupted(const void* ucontext, std::uintptr_t* to,
                                std::size_t capacity) noexcept {
  collected c{to, capacity};
  c.begin = static_cast<std::uintptr_t>(
    static_cast<const ucontext_t*>(ucontext)->uc_mcontext.gregs[REG_RIP]);
  _Unwind_Backtrace(collect, &c);
  return c.count;
}

#else

std::size_t unwind::left(const void*, std::uintptr_t*, std::size_t) noexcept {
  return 0;
}

std::size_t unwind::interrupted(const void*, std::uintptr_t*, std::size_t) noexcept {
  return 0;
}

#endif

} // namespace basal::executors
