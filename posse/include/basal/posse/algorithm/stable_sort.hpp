#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/collector.hpp>
#include <basal/posse/algorithm/merge.hpp>
#include <basal/posse/algorithm/sort.hpp>
#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/order.hpp>
#include <basal/posse/pure.hpp>

namespace basal::posse {
namespace detail {

/// Merge sort between two ranges of the same size. The halves of a sort and of
/// a merge are branches.
template <class Less>
class merge_sort {
public:
  explicit merge_sort(Less& less) noexcept : less_(less) {
  }

  /// Sorts the n elements at `from` into `to`; both are written.
  template <class From, class To>
  void sort_into(member& m, From from, To to, std::size_t n) const {
    if (n <= short_run) {
      insert_in_order(from, n);
      std::move(from, advanced(from, n), to);
      return;
    }
    auto left = (n + 1) / 2;
    m.fork_merge(
      [&, left](member& k) { sort_here(k, from, to, left); },
      [&, left](member& k) { sort_here(k, advanced(from, left), advanced(to, left), n - left); });
    merge(m, from, left, advanced(from, left), n - left, to);
  }

private:
  /// Sorted where they are. (std::stable_sort would move elements to memory of
  /// its own, in which a collector does not look.)
  static constexpr std::size_t short_run = 16;

  template <class From>
  void insert_in_order(From first, std::size_t n) const {
    for (std::size_t i = 1; i < n; ++i) {
      std::iter_value_t<From> element = std::move(*advanced(first, i));
      auto at = i;
      for (; at > 0 && less_(element, *advanced(first, at - 1)); --at)
        *advanced(first, at) = std::move(*advanced(first, at - 1));
      *advanced(first, at) = std::move(element);
    }
  }

  /// Sorts the n elements at `from`, by way of `other`.
  template <class From, class To>
  void sort_here(member& m, From from, To other, std::size_t n) const {
    if (n <= short_run) {
      insert_in_order(from, n);
      return;
    }
    auto left = (n + 1) / 2;
    m.fork_merge([&, left](member& k) { sort_into(k, from, other, left); },
                 [&, left](member& k) {
                   sort_into(k, advanced(from, left), advanced(other, left), n - left);
                 });
    merge(m, other, left, advanced(other, left), n - left, from);
  }

  /// Moves two sorted ranges into one; of equal elements, a's come first.
  template <class From, class To>
  void merge(member& m, From a, std::size_t na, From b, std::size_t nb, To to) const {
    parallel_merge<Less>{less_}.run(m, std::make_move_iterator(a), na, std::make_move_iterator(b),
                                    nb, to);
  }

  Less& less_;
};

struct stable_sort_function : sorting_function {
  template <element_range Range, class Less = std::ranges::less>
  void operator()(member& m, Range&& range, Less less = {}) const {
    using value = std::ranges::range_value_t<Range>;
    if constexpr (std::is_integral_v<value> && is_branch_free<Less, value>) {
      sort_function{}(m, range, less); // nobody can tell equal ones apart
    } else if constexpr (check_elements<Range>()) {
      auto first = written_elements_of(range);
      auto n = count_of(range);
      executors::visible_vector<value> buffer(std::make_move_iterator(first),
                                              std::make_move_iterator(advanced(first, n)));
      auto order = order_of<value>(less);
      merge_sort<decltype(order)>{order}.sort_into(m, buffer.data(), first, n);
    }
  }
};

} // namespace detail

/// `stable_sort(where, range, less = ranges::less)`: sorts and keeps the order
/// of equal elements. n log n comparisons; allocates room for as many elements
/// unless they are integers.
/// @throws any exception of `less`, std::bad_alloc; the elements are then lost:
///         each can still be assigned to or destroyed, but some are moved from
inline constexpr pure<detail::stable_sort_function{}> stable_sort{"stable_sort"};

} // namespace basal::posse
