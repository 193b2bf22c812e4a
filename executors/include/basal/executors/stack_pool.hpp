#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace basal::executors {

/// A fiber's stack: memory mapped on demand, below it a guard that turns an
/// overflow into a fault instead of silent damage, unless a single frame is
/// larger than the guard (compile with -fstack-clash-protection for those).
struct stack {
  std::byte* base = nullptr; ///< lowest usable address
  std::size_t bytes = 0;     ///< usable size

  std::byte* top() const noexcept {
    return base + bytes;
  }
};

/// Hands out stacks of one size and keeps returned ones for reuse. Any thread;
/// a mutex; a system call only when no used stack is left. Pages are committed
/// when first touched.
class stack_pool {
public:
  /// @param stack_bytes usable bytes per stack, rounded up to whole pages;
  ///                    from `min_stack_bytes` to `max_stack_bytes`.
  /// @throws std::invalid_argument naming the value and the range.
  explicit stack_pool(std::size_t stack_bytes);
  ~stack_pool();

  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;

  /// @throws std::system_error when the kernel has no more memory or mappings,
  ///         with the knobs to turn in its message.
  stack acquire();

  /// Takes a stack back. Nothing may run on it any more.
  void release(stack s) noexcept;

  std::size_t stack_bytes() const noexcept {
    return stack_bytes_;
  }

  /// Stacks mapped so far, in use or not.
  std::size_t mapped() const noexcept;

  /// Address space only.
  static constexpr std::size_t guard_bytes = 256 * 1024;

  static constexpr std::size_t min_stack_bytes = 64 * 1024;

  /// More is a slip of the keyboard; the address space would hold only a few.
  static constexpr std::size_t max_stack_bytes = std::size_t{1} << 30;

private:
  const std::size_t stack_bytes_;
  mutable std::mutex mutex_;
  std::vector<stack> free_;
  std::size_t mapped_ = 0;
};

} // namespace basal::executors
