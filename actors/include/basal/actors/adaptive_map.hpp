#pragma once

#include <basal/actors/detail/adaptive_core.hpp>
#include <basal/mab/hints.hpp>

#include <caf/attach_stream_stage.hpp>
#include <caf/downstream.hpp>
#include <caf/local_actor.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/stream.hpp>
#include <caf/unit.hpp>

#include <algorithm>
#include <concepts>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace basal::actors {

namespace detail {

template <class Function, class Item>
using mapped_t = std::decay_t<std::invoke_result_t<Function&, Item>>;

template <class Function, class Item>
std::shared_ptr<adaptive_core> stream_core(caf::local_actor& self,
                                           const adaptive_actor_config& config) {
  const auto of = std::string{self.name()} + "/stream";
  const std::type_info* const type = &typeid(Item);
  return std::make_shared<adaptive_core>(self.home_system(),
                                         mab::function_key::of<Function, Item>(),
                                         family_name{of, {&type, 1}}, config);
}

} // namespace detail

/// Applies `function` to each element of a range, in order and one at a time, each where its
/// chooser says: on the executor of the handler that calls it, or on a compute executor. On a
/// thread that is no message executor's, each runs where it is. The chooser is of this call alone;
/// it leaves the costs that it has learned to the next one with the same function type.
/// @returns the function's results, in the order of the range; nothing if it returns nothing.
/// @throws the function's exception, at the first element that it throws for; the rest is not begun
/// @throws std::logic_error, std::invalid_argument see adaptive()
template <std::derived_from<caf::local_actor> Actor, std::ranges::input_range Range, class Function>
auto adaptive_map(Actor* self, Range&& range, Function function,
                  const adaptive_actor_config& config = {}) {
  using reference = std::ranges::range_reference_t<Range>;
  using item = std::decay_t<reference>;
  auto core = detail::stream_core<Function, item>(*self, config);
  auto apply = [&](reference x) -> decltype(auto) {
    const auto hint = mab::hint_of(static_cast<const item&>(x));
    return core->run(hint,
                     [&]() -> decltype(auto) { return function(std::forward<reference>(x)); });
  };
  if constexpr (std::is_void_v<std::invoke_result_t<Function&, reference>>) {
    for (auto&& x : range)
      apply(std::forward<decltype(x)>(x));
  } else {
    std::vector<detail::mapped_t<Function, reference>> result;
    if constexpr (std::ranges::sized_range<Range>)
      result.reserve(std::ranges::size(range));
    for (auto&& x : range)
      result.push_back(apply(std::forward<decltype(x)>(x)));
    return result;
  }
}

/// The same for a scoped actor. A template, since an actor system converts to one.
template <std::same_as<caf::scoped_actor> Actor, std::ranges::input_range Range, class Function>
auto adaptive_map(const Actor& self, Range&& range, Function function,
                  const adaptive_actor_config& config = {}) {
  return adaptive_map(self.ptr(), std::forward<Range>(range), std::move(function), config);
}

/// A stage of a CAF stream that applies `function` to each element: in a handler that was sent a
/// `caf::stream<In>`,
///
///     return basal::actors::adaptive_map(self, in, [](const sample& x) { return analyse(x); });
///
/// Elements leave in the order in which they came, one at a time is worked on, and CAF's credit
/// limits how many wait, so that a slow stage slows its source down. The chooser lives and ends
/// with the stream. Other messages of the actor have their turn between batches.
/// @throws std::logic_error, std::invalid_argument see adaptive()
template <std::derived_from<caf::scheduled_actor> Actor, class In, class Function>
auto adaptive_map(Actor* self, const caf::stream<In>& in, Function function,
                  const adaptive_actor_config& config = {}) {
  using out = detail::mapped_t<Function, In&>;
  auto core = detail::stream_core<Function, In>(*self, config);
  return caf::attach_stream_stage(
    self, in, [](caf::unit_t&) {},
    [core, function](caf::unit_t&, caf::downstream<out>& next, In x) mutable {
      next.push(core->run(mab::hint_of(std::as_const(x)), [&]() -> out { return function(x); }));
    });
}

} // namespace basal::actors
