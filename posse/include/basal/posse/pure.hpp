#pragma once

#include <concepts>
#include <ranges>
#include <type_traits>
#include <utility>

#include <basal/posse/call_options.hpp>
#include <basal/posse/detail/function_record.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>
#include <basal/posse/runtime.hpp>

namespace basal::posse {

/// How a caller that is neither a member nor a runtime finds its runtime; to be
/// specialised with `static runtime& runtime_of(const Caller&)`. The actors
/// module does so for pointers to CAF's actors.
template <class Caller>
struct caller_traits;

template <class Caller>
concept traced_caller = requires(const Caller& c) {
  { caller_traits<Caller>::runtime_of(c) } -> std::convertible_to<runtime&>;
};

/// One whose traits also know how to ask whether its call should end: by
/// `static interrupt_probe probe_of(const Caller&)`.
template <class Caller>
concept probed_caller = traced_caller<Caller> && requires(const Caller& c) {
  { caller_traits<Caller>::probe_of(c) } -> std::same_as<interrupt_probe>;
};

/// A type that may call a pure function as a computation of its own.
template <class Caller>
concept calling = std::derived_from<std::remove_cvref_t<Caller>,
                                    runtime> || traced_caller<std::remove_cvref_t<Caller>>;

namespace detail {

template <class First = void, class...>
inline constexpr bool says_who_calls
  = calling<First> || std::is_convertible_v<std::remove_reference_t<First>*, member*>;

/// Base of the functions of an algorithm, which take a range: for what is said of wrong arguments.
struct range_algorithm {
  /// Whether it takes others behind the first one.
  static constexpr bool has_more_ranges = false;

  /// Says what is wrong where arguments begin with a range. Algorithms that are often called in a
  /// wrong way say it better.
  template <class... Args>
  static consteval void refuse() {
    static_assert(sizeof...(Args) == 0,
                  "an algorithm takes a range, and then what its comment says; a range of the "
                  "numbers below n is std::views::iota(0, n)");
  }
};

template <class Range>
concept random_access = std::ranges::random_access_range<Range> && std::ranges::sized_range<Range>;

/// Whether arguments begin with elements that have places, or with how many numbers there are.
template <class First = void, class...>
inline constexpr bool begins_with_range
  = std::integral<std::remove_cvref_t<First>> || random_access<First>;

/// Whether one is a range that no algorithm takes.
template <class... Args>
inline constexpr bool has_wrong_range
  = ((std::ranges::input_range<Args> && !random_access<Args>) || ...);

} // namespace detail

/// A declared pure function: `Function` takes a member& and its own arguments;
/// it may fork, and must neither write what its branches share nor cause
/// effects. Declare it as a constant:
///
///     long fib(basal::posse::member& m, int n);
///     inline constexpr basal::posse::pure<fib> pure_fib{"fib"};
///
/// `Function` may be a lambda expression that captures nothing; the language takes no other as a
/// template argument. Its inputs come as arguments of the call.
///
/// and call it from another pure function with its member, from a handler with
/// `self`, or from a plain thread with the runtime. All forms return what the
/// function returns and throw what it throws.
template <auto Function>
class pure {
public:
  /// @param name for the statistics; must live as long as the program
  explicit constexpr pure(const char* name) noexcept : name_(name) {
  }

  /// Calls it as a part of the computation that `m` belongs to: a plain call.
  template <class... Args>
  [[gnu::always_inline]] decltype(auto) operator()(member& m, Args&&... args) const {
    if constexpr (takes_member<Args...>())
      return Function(m, std::forward<Args>(args)...);
  }

  /// Calls it as a computation of its own. `caller` is the runtime, or `self` in
  /// an actor's handler. On an executor it runs right here, where idle compute
  /// executors may steal from it; on another thread, on that thread as well, in
  /// place of a compute executor (runtime::run says when not).
  /// @throws cancelled, memory_limit_exceeded, runtime_stopped
  template <calling Caller, class... Args>
  auto operator()(Caller&& caller, Args&&... args) const {
    return run(caller, probing<Caller>(caller), false, std::forward<Args>(args)...);
  }

  /// Whoever calls must say who it is.
  template <class... Args>
  requires(!detail::says_who_calls<Args...>) void operator()(Args&&...) const {
    refuse<Args...>();
  }

  /// Does not compile: the first argument must say who calls, as for a direct call.
  template <class... Args>
  requires(!detail::says_who_calls<Args...>) void offload(Args&&...) const {
    refuse<Args...>();
  }

  /// Runs the whole call on a compute executor: for computations that are known
  /// to be long. In a handler the handler's fiber is suspended meanwhile and
  /// its executor serves other actors; a plain thread sleeps.
  /// @throws cancelled, memory_limit_exceeded, runtime_stopped
  template <calling Caller, class... Args>
  auto offload(Caller&& caller, Args&&... args) const {
    return run(caller, probing<Caller>(caller), true, std::forward<Args>(args)...);
  }

  /// Calls with limits of their own:
  ///
  ///     pure_fib.with({.stop = token, .memory_limit = 1 << 20})(self, 30)
  ///     const auto soon = std::chrono::steady_clock::now() + 50ms;
  ///     pure_fib.with({.deadline = soon}).offload(self, 30)
  ///
  /// The result is made to be called at once; it may be kept and called again.
  class limited {
  public:
    /// As of the function itself, within the limits.
    /// @{
    template <calling Caller, class... Args>
    auto operator()(Caller&& caller, Args&&... args) const {
      return function_.run(caller, options_for<Caller>(caller), false, std::forward<Args>(args)...);
    }

    template <calling Caller, class... Args>
    auto offload(Caller&& caller, Args&&... args) const {
      return function_.run(caller, options_for<Caller>(caller), true, std::forward<Args>(args)...);
    }
    /// @}

  private:
    friend class pure;

    limited(const pure& function, call_options options)
      : function_(function), options_(std::move(options)) {
    }

    /// A probe that the caller brings is only asked if the options have none.
    template <class Caller>
    auto options_for(Caller& caller) const {
      auto result = options_;
      if constexpr (probed_caller<std::remove_cvref_t<Caller>>)
        if (result.probe.asks_to_end == nullptr)
          result.probe = caller_traits<std::remove_cvref_t<Caller>>::probe_of(caller);
      return result;
    }

    const pure& function_;
    const call_options options_;
  };

  /// The function with other limits than those of its runtime.
  limited with(call_options options) const {
    return {*this, std::move(options)};
  }

  /// The name under which calls are counted.
  constexpr const char* name() const noexcept {
    return name_;
  }

private:
  struct no_options {};

  template <class Caller>
  static auto probing(Caller& caller) {
    if constexpr (probed_caller<std::remove_cvref_t<Caller>>)
      return call_options{.probe = caller_traits<std::remove_cvref_t<Caller>>::probe_of(caller)};
    else
      return no_options{};
  }

  template <class Caller>
  static runtime& host_of(Caller& caller) {
    if constexpr (std::derived_from<std::remove_cvref_t<Caller>, runtime>)
      return caller;
    else
      return caller_traits<std::remove_cvref_t<Caller>>::runtime_of(caller);
  }

  template <class Caller, class Options, class... Args>
  auto run(Caller& caller, const Options& options, bool offloaded, Args&&... args) const {
    if constexpr (takes_member<Args...>()) {
      auto& record = detail::record_of<Function>;
      record.announce(name_);
      detail::call_info call{.function = &record, .offloaded = offloaded};
      if constexpr (std::same_as<Options, call_options>)
        call.options = &options;
      auto body = [&](member& m) { return Function(m, std::forward<Args>(args)...); };
      auto& host = host_of(caller);
      return offloaded ? host.offload_as(body, call) : host.run_as(body, call);
    }
  }

  template <class... Args>
  static consteval void refuse() {
    static_assert(detail::says_who_calls<Args...>,
                  "the first argument of a pure function says who calls it: `m`, the member, in "
                  "another pure function; `self` in an actor (and #include "
                  "<basal/actors/run_pure.hpp>); the runtime on a plain thread, beside actors "
                  "basal::actors::runtime_of(system)");
  }

  /// Whether the function is an algorithm that has something to say of these arguments.
  template <class... Args>
  static consteval bool refuses() {
    using function = std::remove_cvref_t<decltype(Function)>;
    if constexpr (
      std::derived_from<
        function, detail::range_algorithm> && !std::invocable<decltype(Function), member&, Args...>)
      return detail::begins_with_range<
               Args...> && !(function::has_more_ranges && detail::has_wrong_range<Args...>);
    else
      return false;
  }

  /// True, or the one error that says what is wrong.
  template <class... Args>
  static consteval bool takes_member() {
    constexpr bool result = std::invocable<decltype(Function), member&, Args...>;
    constexpr bool is_algorithm
      = std::derived_from<std::remove_cvref_t<decltype(Function)>, detail::range_algorithm>;
    static_assert(result || is_algorithm,
                  "a pure function takes a basal::posse::member& and then the arguments of the "
                  "call, as in: long fib(basal::posse::member& m, int n)");
    if constexpr (refuses<Args...>())
      std::remove_cvref_t<decltype(Function)>::template refuse<Args...>();
    else
      static_assert(
        result || !is_algorithm,
        "an algorithm takes a range with random access and a size, and then what its "
        "comment says; two iterators are std::ranges::subrange(first, last), numbers "
        "std::views::iota(from, to), and what is in a list, a map or a filtered view goes "
        "into a vector first");
    return result;
  }

  const char* name_;
};

} // namespace basal::posse
