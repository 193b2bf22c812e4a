/// A pure function of many items, computed by many processes.
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <basal/cluster/coordinator.hpp>

namespace basal::cluster {

namespace detail {

template <auto Function, class Items, class Deliver>
manifest map_encoded(coordinator& c, const posse::pure<Function>& function, std::string_view shared,
                     const Items& items, Deliver& deliver, const map_options& options) {
  static_assert(std::same_as<std::ranges::range_value_t<Items>, item_of<Function>>,
                "the items are of the type that the function takes");
  const auto registered = detail::make_registered(function, options.version);
  return c.run({.function = registered,
                .shared = shared,
                .items = static_cast<std::uint64_t>(std::ranges::size(items)),
                .item =
                  [&items](std::uint64_t i) {
                    return encode<item_of<Function>>(std::ranges::begin(
                      items)[static_cast<std::ranges::range_difference_t<Items>>(i)]);
                  },
                .deliver =
                  [&deliver](std::uint64_t i, std::string_view bytes) {
                    deliver(i, decode<result_of<Function>>(bytes));
                  },
                .options = options});
}

} // namespace detail

/// Computes `function` of each item on the coordinator's workers, and calls `deliver(std::uint64_t
/// index, Result result)` on the calling thread once a result is in the journal. A result that
/// turns out to be wrong, since a worker computed other bits than this process does, is delivered a
/// second time when it has been mended. An exception of `deliver` ends the batch and is thrown.
/// @throws error if the batch fails; results that the journal has are kept
template <auto Function, std::ranges::random_access_range Items, class Deliver>
requires std::is_void_v<shared_of<Function>> && std::invocable<Deliver&, std::uint64_t,
                                                               result_of<Function>>
  manifest map(coordinator& c, const posse::pure<Function>& function, const Items& items,
               Deliver&& deliver, const map_options& options = {}) {
  return detail::map_encoded(c, function, std::string_view{}, items, deliver, options);
}

/// The same for a function whose items share a value, which workers fetch once, by the hash of its
/// bytes, and find again in later batches.
template <auto Function, std::ranges::random_access_range Items, class Deliver>
requires std::invocable<Deliver&, std::uint64_t, result_of<Function>>
  manifest map(coordinator& c, const posse::pure<Function>& function,
               const shared_of<Function>& shared, const Items& items, Deliver&& deliver,
               const map_options& options = {}) {
  return detail::map_encoded(c, function, encode(shared), items, deliver, options);
}
/// All results, in the order of their items.
/// @throws error poisoned, if an item has none
template <auto Function, std::ranges::random_access_range Items>
std::vector<result_of<Function>> map(coordinator& c, const posse::pure<Function>& function,
                                     const Items& items, const map_options& options = {}) {
  std::vector<result_of<Function>> results(std::ranges::size(items));
  const auto done = map(
    c, function, items,
    [&](std::uint64_t i, result_of<Function> r) {
      results[static_cast<std::size_t>(i)] = std::move(r);
    },
    options);
  if (!done.poisoned.empty()) {
    const auto& first = done.poisoned.front();
    throw error{errc::poisoned, std::to_string(done.poisoned.size())
                                  + " items have no result; item " + std::to_string(first.item)
                                  + ": " + first.reason};
  }
  return results;
}

} // namespace basal::cluster
