/// The functions that a worker runs, and no others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <basal/cluster/codec.hpp>
#include <basal/cluster/detail/message.hpp>
#include <basal/posse/pure.hpp>

namespace basal::cluster {

namespace detail {

/// Arguments and result of `R f(posse::member&, A)` or `R f(posse::member&, const S&, A)`, a
/// function or a lambda.
template <class Signature>
struct call_types;
template <class R, class A>
struct call_types<R (*)(posse::member&, A)> {
  using shared = void;
  using item = std::remove_cvref_t<A>;
  using result = R;
};
template <class R, class S, class A>
struct call_types<R (*)(posse::member&, const S&, A)> {
  using shared = S;
  using item = std::remove_cvref_t<A>;
  using result = R;
};
template <class R, class... A>
struct call_types<R (*)(posse::member&, A...) noexcept> : call_types<R (*)(posse::member&, A...)> {
};
template <class L, class R, class... A>
struct call_types<R (L::*)(posse::member&, A...) const> : call_types<R (*)(posse::member&, A...)> {
};

template <auto Function>
struct types_of_function : call_types<decltype(Function)> {};
template <auto Function>
requires std::is_class_v<decltype(Function)>
struct types_of_function<Function> : call_types<decltype(&decltype(Function)::operator())> {
};

/// A registered function without its types.
struct registered {
  function_key key;

  /// Decodes what all items share; null where they share nothing. Throws error.
  std::function<std::shared_ptr<const void>(std::string_view)> open_shared;

  /// Decodes the item, calls the function on the calling thread's executor or, from elsewhere, on a
  /// compute executor, and encodes the result. Throws what the function throws.
  /// @param shared open_shared()'s
  std::function<std::string(posse::runtime&, const posse::call_options&, const void* shared,
                            std::string_view item)>
    run;
};

/// @throws error bad_option
void expect_good_name(std::string_view name);

} // namespace detail

/// The item type of a registered function, without reference and const.
template <auto Function>
using item_of = typename detail::types_of_function<Function>::item;

/// The type that all items of a registered function share; void if there is none.
template <auto Function>
using shared_of = typename detail::types_of_function<Function>::shared;

/// The result type of a registered function.
template <auto Function>
using result_of = typename detail::types_of_function<Function>::result;

namespace detail {

template <auto Function>
registered make_registered(const posse::pure<Function>& function, std::uint32_t version) {
  using item = item_of<Function>;
  using result = result_of<Function>;
  static_assert(encodable<item> && encodable<result>,
                "items and results must be of types that the codec knows; see codec.hpp");
  expect_good_name(function.name());
  constexpr auto types = mixed(signature<item>(), signature<result>());
  using shared = shared_of<Function>;
  if constexpr (std::is_void_v<shared>) {
    return {.key = {.name = function.name(), .version = version, .signature = types},
            .open_shared = nullptr,
            .run = [function](posse::runtime& runtime, const posse::call_options& options,
                              const void*, std::string_view bytes) {
              const auto x = decode<item>(bytes);
              return encode<result>(function.with(options)(runtime, x));
            }};
  } else {
    static_assert(encodable<shared>, "what items share must be of a type that the codec knows");
    return {.key = {.name = function.name(),
                    .version = version,
                    .signature = mixed(types, signature<shared>())},
            .open_shared = [](std::string_view bytes) -> std::shared_ptr<const void> {
              return std::make_shared<const shared>(decode<shared>(bytes));
            },
            .run =
              [function](posse::runtime& runtime, const posse::call_options& options,
                         const void* with, std::string_view bytes) {
                const auto x = decode<item>(bytes);
                return encode<result>(
                  function.with(options)(runtime, *static_cast<const shared*>(with), x));
              }};
  }
}

} // namespace detail

/// Pure functions by name and version. A function takes one item, by value or by reference to
/// const, and returns a result; both are of types that the codec knows:
///
///     picture render(basal::posse::member& m, const tile& t);
///     inline constexpr basal::posse::pure<render> pure_render{"render"};
///
///     basal::cluster::registry functions;
///     functions.add(pure_render);
///
/// Or it takes what all items of a batch share before the item, by reference to const: a worker
/// fetches and decodes that once for all of them.
///
///     std::vector<double> solve(basal::posse::member& m, const matrix& a,
///                               const std::vector<double>& b);
///
/// Change the version when the function's results change: coordinators and workers of different
/// versions do not share work.
class registry {
public:
  /// @throws error bad_option for a name that is empty or holds more than letters, digits, '-' and
  ///         '_', or that was added before with this version
  template <auto Function>
  registry& add(const posse::pure<Function>& function, std::uint32_t version = 1) {
    return add(detail::make_registered(function, version));
  }

  /// The same for a function whose types are gone.
  registry& add(detail::registered function);

  /// Null if there is none of that name, version and types. Any thread, while nobody adds.
  const detail::registered* find(const detail::function_key& key) const noexcept;

  /// In the order in which they were added.
  const std::vector<detail::registered>& functions() const noexcept {
    return functions_;
  }

private:
  std::vector<detail::registered> functions_;
};

} // namespace basal::cluster
