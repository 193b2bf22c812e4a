#pragma once

#include <cstddef>
#include <memory>

namespace basal::interleave {

/// A stack that a logical thread of a run lives on. It may be abandoned in the
/// middle of a function and prepared again: its frames are then forgotten
/// without being unwound, so they must own nothing.
class coroutine {
public:
  using entry = void (*)(void* argument);

  /// The calling thread's own stack.
  coroutine() noexcept;

  /// A stack of `bytes` bytes.
  explicit coroutine(std::size_t bytes);

  ~coroutine();

  coroutine(const coroutine&) = delete;
  coroutine& operator=(const coroutine&) = delete;

  /// The first switch to this coroutine calls `f(argument)`, which must not
  /// return.
  void prepare(entry f, void* argument);

  /// Leaves `from`, the running coroutine, for `to`. Returns when somebody
  /// switches back.
  static void switch_to(coroutine& from, coroutine& to) noexcept;

private:
  struct first_steps;
  static void arrive(void* context, coroutine& from, coroutine& to) noexcept;

  void* context_ = nullptr; ///< saved registers while it does not run
  std::unique_ptr<std::byte[]> stack_;
  std::size_t bytes_ = 0;
  entry entry_ = nullptr;
  void* argument_ = nullptr;

  // For the sanitizers; unused otherwise.
  void* fake_stack_ = nullptr;
  const void* asan_bottom_ = nullptr;
  std::size_t asan_bytes_ = 0;
  void* tsan_fiber_ = nullptr;
};

} // namespace basal::interleave
