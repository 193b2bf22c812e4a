#pragma once

#include <cstddef>
#include <cstdint>

namespace basal::executors {

/// Return addresses, innermost first, until `capacity` are found. May be called in a signal
/// handler: from glibc 2.35 on the unwinder takes no lock. Empty on machines other than x86-64.
class unwind {
public:
  /// Of a fiber that was left: `context` is where Boost.Context has saved its registers.
  static std::size_t left(const void* context, std::uintptr_t* to, std::size_t capacity) noexcept;

  /// Of the calling thread, in a signal handler: of what the signal has interrupted.
  /// @param ucontext the handler's third argument
  static std::size_t interrupted(const void* ucontext, std::uintptr_t* to,
                                 std::size_t capacity) noexcept;
};

} // namespace basal::executors
