#pragma once

#include <basal/actors/detail/hop.hpp>
#include <basal/actors/run_pure.hpp>

#include <caf/local_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace basal::actors {

/// Calls `function()` on a compute executor, for functions known to be slow, and returns what it
/// returns or throws what it throws. In a handler the handler's fiber is suspended meanwhile and
/// its executor serves other actors; the function may use the actor's state as the handler may. A
/// detached, blocking or scoped actor's thread sleeps. On a compute executor, as within an
/// offloaded handler, it is called right here. Allocates nothing.
/// @throws std::logic_error if the system does not run on basal
/// @throws posse::cancelled, posse::runtime_stopped when the system ends before it could begin
template <std::derived_from<caf::local_actor> Actor, class Function>
decltype(auto) offload(Actor* self, Function&& function) {
  return detail::hop(runtime_of(self->home_system()), function);
}

template <class Function>
decltype(auto) offload(const caf::scoped_actor& self, Function&& function) {
  return detail::hop(runtime_of(self.home_system()), function);
}

namespace detail {

template <class T>
concept may_wait
  = std::convertible_to<T, const caf::local_actor*> || std::same_as<std::remove_cvref_t<T>,
                                                                    caf::scoped_actor>;

} // namespace detail

/// Without the actor there is nobody whose compute executors it could mean.
template <class Function>
requires(!detail::may_wait<Function> && std::invocable<Function&>) void offload(Function&&) {
  static_assert(detail::may_wait<Function>,
                "the first argument of offload is the actor that waits, as in: offload(self, [=] { "
                "return price(x); }); of a pure function it is pure_price.offload(self, x)");
}

} // namespace basal::actors
