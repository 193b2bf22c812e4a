#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include <basal/posse/detail/elements.hpp>

namespace basal::posse::detail {

/// A cache line.
inline constexpr std::size_t most_bytes_near = 64;

/// Whether each part of a range calls a copy of `Function` that is its own: it is trivially
/// copyable, as most closures are, fits in a cache line, and its calls, with `Args`, leave it as it
/// is, so that nobody misses what they did to the copy.
template <class Function, class... Args>
constexpr bool is_copied_near() {
  if constexpr (std::is_object_v<Function>) {
    constexpr bool is_small = sizeof(Function) <= most_bytes_near;
    constexpr bool is_trivial = std::is_trivially_copyable_v<Function>;
    constexpr bool can_be_copied = std::is_copy_constructible_v<Function>;
    return is_small && is_trivial && can_be_copied && is_called_with<const Function, Args...>;
  } else {
    return false;
  }
}

/// A function that all members of a computation call for elements of a range: a copy for each part,
/// where is_copied_near(). So no thread reads what it captured from another one's stack, in lines
/// that are written there all the time; and the compiler, which sees that no element is part of the
/// copy, keeps what was captured in registers.
template <class Function, bool IsCopied>
class near_function {
public:
  explicit near_function(Function& function) noexcept : kept_(keep(function)) {
  }

  /// For the calls of one step: a copy, or the function itself.
  [[gnu::always_inline]] inline decltype(auto) get() const noexcept {
    if constexpr (IsCopied)
      return Function(kept_);
    else
      return (*kept_);
  }

private:
  static auto keep(Function& function) noexcept {
    if constexpr (IsCopied)
      return function;
    else
      return std::addressof(function);
  }

  std::conditional_t<IsCopied, std::remove_const_t<Function>, Function*> kept_;
};

/// `function`, which will be called with `Args`.
template <class... Args, class Function>
auto near_to(Function& function) noexcept {
  return near_function<Function, is_copied_near<Function, Args...>()>{function};
}

} // namespace basal::posse::detail
