#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/divisible_search.hpp>
#include <basal/posse/detail/range_place.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse {

/// A search for the first of the elements [first, last) at which `body` ends: all who take part
/// claim the next elements, in their order, so that nobody is far behind the one that is found, and
/// all end at the same time. A member's node stands for what nobody has claimed; who steals it
/// claims, too. So a search costs one node and, for each part, an exchange of one cache line.
///
/// As of a range it is known by `range_site` what an element costs, so how many are claimed at a
/// time; where it is not, `pace` finds out. And it is known how many elements the searches here
/// look at: so one that probably ends soon is not offered before it has lasted longer.
///
/// `Body` is called as `body(member&, first, last)` and returns the element at which it ends, or
/// `last`. Calls for different elements run at the same time.
///
/// The first exception in the order of elements comes out of run(), unless the search ends at an
/// element before it; then, as in a sequential loop, it never happened.
template <class Body>
class range_search {
  static_assert(
    std::is_same_v<std::invoke_result_t<Body&, member&, std::size_t, std::size_t>, std::size_t>,
    "the body of a range_search returns the element at which it ends, a std::size_t");

public:
  /// Begins nothing yet.
  explicit range_search(Body body) noexcept : body_(std::move(body)) {
  }

  range_search(const range_search&) = delete;
  range_search& operator=(const range_search&) = delete;

  /// @returns the first element at which the body ended, or `last`.
  /// @throws any exception of the body; cancelled
  std::size_t run(member& m, std::size_t first, std::size_t last) {
    BASAL_ASSERT(first <= last, "a range ends behind its beginning");
    if (first == last)
      return last;
    const auto call = [&](std::size_t end) {
      return detail::call_body<Body, std::size_t>(m, detail::address_of(body_), first, end);
    };
    return detail::divisible_search::run(place, detail::address_of(body_), m, first, last, call);
  }

private:
  static inline constinit detail::search_place place{
    {&detail::call_body<Body, std::size_t>, detail::bytes_near<Body>}};

  Body body_;
};

} // namespace basal::posse
