#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace basal::mab {

/// The programmer's expectation of a message's cost, for the time before anything was observed.
/// Ordered: more is more pessimistic.
enum class compute_hint {
  unknown, ///< nothing
  low,     ///< below 50 us
  medium,  ///< 50 to 500 us: on both sides of guardrail GR1, so both arms are open
  high,    ///< above 500 us: the first offloads are forced
};

constexpr const char* to_string(compute_hint x) noexcept {
  switch (x) {
  case compute_hint::unknown:
    return "unknown";
  case compute_hint::low:
    return "low";
  case compute_hint::medium:
    return "medium";
  case compute_hint::high:
    return "high";
  }
  return "?"; // no enumerator
}

/// A type gives hints by a function that argument-dependent lookup finds:
///
///   basal::mab::compute_hint compute_hint_of(const my_message& x) noexcept;
template <class T>
concept gives_hints = requires(const T& x) {
  { compute_hint_of(x) } -> std::same_as<compute_hint>;
};

namespace detail {

template <class T>
struct hint_traits {
  static constexpr bool any = gives_hints<T>;

  static compute_hint get(const T& x) {
    if constexpr (gives_hints<T>)
      return compute_hint_of(x);
    else
      return compute_hint::unknown;
  }
};

/// Traits of a type that is either empty or refers to one T.
template <class Pointer, class T>
struct pointer_hint_traits {
  static constexpr bool any = hint_traits<T>::any;

  static compute_hint get(const Pointer& x) {
    return any && x ? hint_traits<T>::get(*x) : compute_hint::unknown;
  }
};

template <class T>
struct hint_traits<std::optional<T>> : pointer_hint_traits<std::optional<T>, T> {};

template <class T>
struct hint_traits<std::unique_ptr<T>> : pointer_hint_traits<std::unique_ptr<T>, T> {};

template <class T>
struct hint_traits<std::shared_ptr<T>> : pointer_hint_traits<std::shared_ptr<T>, T> {};

template <class Tuple, class... Ts>
struct tuple_hint_traits {
  static constexpr bool any = (hint_traits<Ts>::any || ...);

  static compute_hint get(const Tuple& xs) {
    return std::apply(
      [](const Ts&... x) {
        return std::max({compute_hint::unknown, hint_traits<Ts>::get(x)...});
      },
      xs);
  }
};

template <class A, class B>
struct hint_traits<std::pair<A, B>> : tuple_hint_traits<std::pair<A, B>, A, B> {};

template <class... Ts>
struct hint_traits<std::tuple<Ts...>> : tuple_hint_traits<std::tuple<Ts...>, Ts...> {};

template <class T>
struct hint_traits<std::vector<T>> {
  static constexpr bool any = hint_traits<T>::any;

  /// A hint must stay cheaper than the decision it helps; more elements than
  /// these are not looked at.
  static constexpr std::size_t most = 16;

  static compute_hint get(const std::vector<T>& xs) {
    auto result = compute_hint::unknown;
    if constexpr (any)
      for (std::size_t i = 0; i < std::min(xs.size(), most); ++i)
        result = std::max(result, hint_traits<T>::get(xs[i]));
    return result;
  }
};

} // namespace detail

/// The hint of x: its own, or that of what it holds. Optionals and owning
/// pointers delegate (empty: unknown); pairs, tuples and vectors (their first 16
/// elements) give their most pessimistic part's; everything else is unknown.
/// Throws what compute_hint_of throws.
template <class T>
compute_hint hint_of(const T& x) {
  if constexpr (gives_hints<T>)
    return compute_hint_of(x);
  else
    return detail::hint_traits<T>::get(x);
}

} // namespace basal::mab
