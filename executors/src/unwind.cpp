#include "unwind.hpp"

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstring>
#include <ucontext.h>
#include <unwind.h>

#if defined(__x86_64__)

// A frame that appears to have been called from where a fiber was left: its unwind information says
// that the caller's registers are where jump_fcontext (Boost.Context on x86-64, System V ABI) has
// saved them: r12 to r15, rbx, rbp and the return address, from the second word of `context` on.
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

namespace {

/// Bytes that jump_fcontext has before the word in front of the saved registers. Later versions of
/// Boost (1.83 in Debian 13) have one word more there than earlier ones, whatever they are built
/// with. So the first instruction tells, which makes room: `lea -0x38(%rsp),%rsp`, or -0x40.
std::size_t bytes_before_registers() noexcept {
  unsigned char code[9];
  std::memcpy(code, reinterpret_cast<const void*>(&boost::context::detail::jump_fcontext),
              sizeof code);
  constexpr unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  constexpr unsigned char longer[] = {0x48, 0x8d, 0x64, 0x24, 0xc0};
  const auto* lea = std::memcmp(code, endbr64, sizeof endbr64) == 0 ? code + sizeof endbr64 : code;
  return std::memcmp(lea, longer, sizeof longer) == 0 ? sizeof(void*) : 0;
}

} // namespace

std::size_t unwind::left(const void* context, std::uintptr_t* to, std::size_t capacity) noexcept {
  collected c{to, capacity};
  c.left_out = 1; // basal_unwind_left itself
  basal_unwind_left(static_cast<const std::byte*>(context) + bytes_before_registers(), collect, &c);
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
