#pragma once

#include <basal/actors/detail/adaptive_core.hpp>
#include <basal/mab/hints.hpp>

#include <caf/detail/type_traits.hpp>
#include <caf/local_actor.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace basal::actors {

namespace detail {

template <class Handler>
using signature_of = typename caf::detail::get_callable_trait<Handler>::fun_sig;

/// `Handler` has one operator(), so that its message is known.
template <class Handler>
concept has_signature = requires {
  typename signature_of<Handler>;
};

} // namespace detail

/// A handler that always runs where its message arrived; see inline_only().
template <class Handler, class Signature = detail::signature_of<Handler>>
class inline_handler;

/// For CAF, a function object with the signature of the handler.
template <class Handler, class Result, class... Args>
class inline_handler<Handler, Result(Args...)> {
public:
  /// For inline_only().
  explicit inline_handler(Handler wrapped) : handler_(std::move(wrapped)) {
  }

  /// Calls the handler.
  Result operator()(Args... args) {
    return handler_(std::forward<Args>(args)...);
  }

private:
  Handler handler_;
};

/// A handler that runs where its message arrived or on a compute executor, whichever it has learned
/// to be better; see adaptive(). To CAF it is a function object with the signature of the handler.
///
/// Copies share one chooser, and belong to one actor like the handler itself.
template <class Handler, class Signature = detail::signature_of<Handler>>
class adaptive_handler;

/// For CAF, a function object with the signature of the handler.
template <class Handler, class Result, class... Args>
class adaptive_handler<Handler, Result(Args...)> {
public:
  /// For adaptive().
  adaptive_handler(std::shared_ptr<detail::adaptive_core> core, Handler wrapped)
    : core_(std::move(core)), handler_(std::move(wrapped)) {
  }

  /// Calls the handler, here or on a compute executor; then the fiber waits for it. Throws what the
  /// handler throws.
  Result operator()(Args... args) {
    auto hint = mab::compute_hint::unknown;
    if constexpr (sizeof...(Args) > 0)
      hint = std::max({hint, mab::hint_of(static_cast<const std::decay_t<Args>&>(args))...});
    return core_->run(hint, [&]() -> Result { return handler_(std::forward<Args>(args)...); });
  }

  /// The newest decision and the numbers behind it, in words; or that a new actor's first message
  /// needed none. In a handler of the same actor.
  std::string explain() const {
    return core_->explain();
  }

  /// The chooser, which has learned and counted, but not a first message that needed no decision.
  /// In a handler of the same actor.
  const mab::chooser& chooser() const noexcept {
    return core_->chooser();
  }

private:
  std::shared_ptr<detail::adaptive_core> core_;
  Handler handler_;
};

/// Says of a handler that it is fast: it runs where its message arrived, without a chooser,
/// whatever it costs others. `adaptive(self, inline_only(handler))` does the same, but counts and
/// measures.
template <class Handler>
auto inline_only(Handler handler) {
  static_assert(detail::has_signature<Handler>,
                "a handler names the types of its message: generic lambdas, with auto parameters, "
                "and function objects with several operator() do not");
  return inline_handler<Handler>{std::move(handler)};
}

namespace detail {

template <class Handler>
inline constexpr bool is_inline_handler = false;

template <class Handler, class Signature>
inline constexpr bool is_inline_handler<inline_handler<Handler, Signature>> = true;

template <class Actor, class Handler, class Result, class... Args>
auto make_adaptive(Actor& self, Handler handler, adaptive_actor_config config,
                   Result (*)(Args...)) {
  auto& system = self.home_system();
  if constexpr (is_inline_handler<Handler>) {
    if (!config.knobs)
      config.knobs = knobs_of(system);
    config.knobs->chosen_by = mab::policy::always_inline;
  }
  // The handler's type tells the actors of one class apart that are made of functions.
  const auto key
    = mab::function_key::combine(mab::function_key::of<Actor, std::tuple<std::decay_t<Args>...>>(),
                                 mab::function_key::from_type<Handler>());
  const std::array<const std::type_info*, sizeof...(Args)> types{&typeid(std::decay_t<Args>)...};
  auto core = std::make_shared<adaptive_core>(system, key, family_name{self.name(), types}, config);
  return adaptive_handler<Handler>{std::move(core), std::move(handler)};
}

} // namespace detail

/// Lets a handler of an event-based, stateful or typed actor run on a compute executor when that
/// costs less than to keep its message executor from others:
///
///     caf::behavior prices(caf::event_based_actor* self) {
///       return {basal::actors::adaptive(self, [=](const order& x) { return price(x); })};
///     }
///
/// The chooser (see mab) learns how long the handler takes and what an offload costs, and starts
/// from what other actors of the same type have learned of the same handler. Wherever the handler
/// runs, the actor is busy with it, and state, `self->send`, requests, response promises, delegated
/// requests, `become`, `quit` and exceptions work alike. It keeps one thread from its begin to its
/// end, but not the same for every message.
///
/// On the threads of detached and blocking actors and brokers it just runs. To be called in the
/// actor, where its behaviour is made.
/// @throws std::logic_error if the system does not run on basal
/// @throws std::invalid_argument naming a knob of `config` out of its range
template <std::derived_from<caf::local_actor> Actor, class Handler>
auto adaptive(Actor* self, Handler handler, adaptive_actor_config config = {}) {
  static_assert(detail::has_signature<Handler>,
                "a handler names the types of its message: generic lambdas, with auto parameters, "
                "and function objects with several operator() do not");
  return detail::make_adaptive(*self, std::move(handler), std::move(config),
                               static_cast<detail::signature_of<Handler>*>(nullptr));
}

/// Without the actor there is nobody whose handler it is.
template <class First, class... Rest>
requires(!std::convertible_to<First, const caf::local_actor*>) void adaptive(First&&, Rest&&...) {
  static_assert(std::convertible_to<First, const caf::local_actor*>,
                "the first argument of adaptive is the actor whose handler it is, as in: "
                "adaptive(self, [=](const order& x) { return price(x); })");
}

} // namespace basal::actors
