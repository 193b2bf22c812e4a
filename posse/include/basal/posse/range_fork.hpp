#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/divisible_range.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/detail/pace.hpp>
#include <basal/posse/detail/range_place.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse {

/// A fork of many branches, the elements [first, last) of a range, as one node
/// that is split when somebody takes from it: the member does the elements in
/// order, in steps, and its node stands for those that it has not begun. A
/// thief takes the upper half of them, or with k executors idle the upper
/// 1/(k+1), and does as much; somewhat less, where it is known how long a hand-over takes, so that
/// all end at the same time. So a range costs one node and about 2 ns a step, however many elements
/// it has. From the theft on it is a `shared_range`, whose members balance what is left.
///
/// If the cost of elements is known, by `range_site` or by now, the range is offered at its
/// beginning and at each look of its pace, if the rest would pay for a theft.
///
/// Sources: lazy binary splitting (Tzannes, Caragea, Barua, Vishkin, PPoPP
/// 2010) for splitting on demand; `pace` for the steps.
///
/// `Body` is called as `body(member&, first, last)`, does the elements [first, last) and returns
/// nothing. Calls for different elements run at the same time. Where it has a constant
/// `elements_are_unlike`, what some elements take tells nothing of others. A body for elements that
/// fork is best always inlined: in a large source g++ did not do so by itself, and a backtracking
/// search by map_reduce took 1.7 times as long.
///
/// The first exception in the order of elements comes out of run(); later ones may or may not have
/// been done then.
template <class Body>
class range_fork : private detail::divisible_range {
  static_assert(std::is_void_v<std::invoke_result_t<Body&, member&, std::size_t, std::size_t>>,
                "the body of a range_fork returns nothing; a search is a range_search");

public:
  /// Begins nothing yet.
  /// @param each an element of the range stands for 2^each of what the program has: what is known
  ///             of these holds for ranges that put more or fewer of them together
  /// @param most_steps for each executor, unless these take long (pace::longest_least); 0: any
  /// @param least_step elements of a step, at least, unless it takes so long; where it is left to
  ///                   `most_steps`, 1
  /// @param least_part of the whole range, that a member takes from another when its own is done,
  ///                   as its reciprocal: where it costs much to put parts together; 0: any
  explicit range_fork(Body body, int each = 0, std::size_t most_steps = 0,
                      std::size_t least_step = 1, std::uint64_t least_part = 0) noexcept
    : divisible_range(place, detail::address_of(body_), each, most_steps, least_step, least_part),
      body_(std::move(body)) {
  }

  /// Does the elements [first, last). Once. Not inlined: what its caller does besides would share
  /// the registers with it, and a backtracking search by map_reduce took 1.5 times as long.
  /// @throws any exception of the body; cancelled
  [[gnu::noinline]] void run(member& m, std::size_t first, std::size_t last) {
    BASAL_ASSERT(first <= last, "a range ends behind its beginning");
    if (first == last)
      return;
    if constexpr (requires { Body::elements_are_unlike; })
      place.sites.note_forks();
    if (last - first <= few_elements && place.sites.has_forks())
      run_few(m, first, last);
    else
      divisible_range::run(m, first, last, [&] {
        detail::call_body<Body, void>(m, detail::address_of(body_), first, last);
        return last;
      });
  }

private:
  /// As many as run_few() is for. With 16 a tree of empty leaves takes 0.83 of its time, with 2 a
  /// third; more than that was not measured.
  static constexpr std::size_t few_elements = 32;

  static inline constinit detail::fork_place place{
    {&detail::call_body<Body, void>, detail::bytes_near<Body>}};

  /// A few elements that fork by themselves, as where a function calls itself for each: one by one,
  /// and as nothing is known of them but that, without a look at the time.
  void run_few(member& m, std::size_t first, std::size_t last) {
    {
      rest node{m, *this, first, last, 0, 0};
      unwinding_guard guard{*this, m, first};
      while (last - first > 1 && !node.is_taken()) {
        node.next = first + 1;
        m.poll();
        body_(m, first, first + 1);
        first = node.next;
      }
      guard.armed = false;
      if (node.is_taken()) [[unlikely]] {
        share(m, node, pace{first});
        return;
      }
      unlink(m, node);
    }
    m.poll();
    body_(m, first, last);
  }

  Body body_;
};

/// Calls `branch(i)`, or `branch(m, i)`, for every i in [0, n): a fork of n branches at the cost
/// of one, see range_fork. Branches must not write what others read or write;
/// results go where each branch puts its own. In order on this thread unless
/// stolen.
/// @throws the first exception in the order of branches; later ones may or may
///         not have run then
template <class Branch>
void fork_merge_n(member& m, std::size_t n, Branch&& branch) {
  auto body
    = [near = detail::near_to<std::size_t>(branch)](member & k, std::size_t first, std::size_t last)
      __attribute__((always_inline)) {
    auto&& f = near.get();
    for (auto i = first; i != last; ++i)
      detail::call_with(f, k, i);
  };
  range_fork<decltype(body)>{body}.run(m, 0, n);
}

} // namespace basal::posse
