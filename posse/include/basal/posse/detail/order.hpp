#pragma once

#include <functional>
#include <type_traits>

#include <basal/posse/detail/elements.hpp>

namespace basal::posse::detail {

template <class Less, class T>
inline constexpr bool is_standard_less
  = std::is_same_v<
      Less,
      std::ranges::less> || std::is_same_v<Less, std::less<>> || std::is_same_v<Less, std::less<T>>;

template <class Less, class T>
inline constexpr bool is_standard_greater
  = std::is_same_v<
      Less,
      std::ranges::
        greater> || std::is_same_v<Less, std::greater<>> || std::is_same_v<Less, std::greater<T>>;

/// Comparing two elements is an instruction without a branch.
template <class Less, class T>
inline constexpr bool is_branch_free
  = std::is_arithmetic_v<T> && (is_standard_less<Less, T> || is_standard_greater<Less, T>);

/// The order as a plain function object: std::less or std::greater where it is
/// that, which libraries know, else one that calls `less`.
template <class T, class Less>
auto order_of(Less& less) {
  check_order<Less, T>();
  if constexpr (std::is_arithmetic_v<T> && is_standard_less<Less, T>)
    return std::less<T>{};
  else if constexpr (std::is_arithmetic_v<T> && is_standard_greater<Less, T>)
    return std::greater<T>{};
  else
    return [&less](const T& a, const T& b) -> bool { return std::invoke(less, a, b); };
}

} // namespace basal::posse::detail
