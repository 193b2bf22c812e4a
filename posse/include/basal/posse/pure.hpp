#pragma once

#include <concepts>
#include <utility>

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

/// A declared pure function: `Function` takes a member& and its own arguments;
/// it may fork, and must neither write what its branches share nor cause
/// effects. Declare it as a constant:
///
///     long fib(basal::posse::member& m, int n);
///     inline constexpr basal::posse::pure<fib> pure_fib{"fib"};
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
  decltype(auto) operator()(member& m, Args&&... args) const {
    return Function(m, std::forward<Args>(args)...);
  }

  /// Calls it as a computation of its own: on an executor, right here, where
  /// idle compute executors may steal from it; on another thread, on a compute
  /// executor while the caller sleeps.
  /// @throws cancelled, runtime_stopped
  template <class... Args>
  auto operator()(runtime& host, Args&&... args) const {
    return counted([&](detail::function_record& record) {
      return host.run_as([&](member& m) { return Function(m, std::forward<Args>(args)...); },
                         &record);
    });
  }

  /// The same from an actor's handler; `self` is the handler's actor.
  template <traced_caller Caller, class... Args>
  auto operator()(const Caller& self, Args&&... args) const {
    return (*this)(runtime_of(self), std::forward<Args>(args)...);
  }

  /// Runs the whole call on a compute executor: for computations that are known
  /// to be long. In a handler the handler's fiber is suspended meanwhile and
  /// its executor serves other actors; a plain thread sleeps.
  /// @throws cancelled, runtime_stopped
  template <class... Args>
  auto offload(runtime& host, Args&&... args) const {
    return counted([&](detail::function_record& record) {
      runtime::count(record.offloaded);
      return host.offload_as([&](member& m) { return Function(m, std::forward<Args>(args)...); },
                             &record);
    });
  }

  template <traced_caller Caller, class... Args>
  auto offload(const Caller& self, Args&&... args) const {
    return offload(runtime_of(self), std::forward<Args>(args)...);
  }

  constexpr const char* name() const noexcept {
    return name_;
  }

private:
  template <class Caller>
  static runtime& runtime_of(const Caller& self) {
    return caller_traits<Caller>::runtime_of(self);
  }

  template <class Call>
  auto counted(Call call) const {
    auto& record = detail::record_of<Function>;
    record.announce(name_);
    runtime::count(record.calls);
    try {
      return call(record);
    } catch (...) {
      runtime::count(record.failed);
      throw;
    }
  }

  const char* name_;
};

} // namespace basal::posse
