#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/number_merge.hpp>
#include <basal/posse/detail/order.hpp>
#include <basal/posse/pure.hpp>

namespace basal::posse {
namespace detail {

/// Merges two sorted ranges into a third: where the middle of the longer one
/// belongs in the other divides both, and the halves are branches.
template <class Less>
class parallel_merge {
public:
  explicit parallel_merge(Less& less) noexcept : less_(less) {
  }

  /// Assigns the `na` and `nb` elements to those at `to`; of equal ones, a's come
  /// first. Moves from move iterators.
  template <class A, class B, class To>
  void run(member& m, A a, std::size_t na, B b, std::size_t nb, To to) const {
    constexpr bool of_numbers = are_numbers<A, B, To>();
    const bool is_mixed = of_numbers && std::min(na, nb) >= number_merge_trial;
    if (na + nb <= (is_mixed ? number_leaf : leaf)) {
      m.poll();
      if constexpr (of_numbers)
        number_merge{pointer_to(a), na, pointer_to(b), nb, to, less_}.run();
      else
        std::merge(a, advanced(a, na), b, advanced(b, nb), to, std::ref(less_));
      return;
    }
    auto i = na / 2;
    auto j = nb / 2;
    if (na >= nb)
      j = static_cast<std::size_t>(
        std::lower_bound(b, advanced(b, nb), *advanced(a, i), std::ref(less_)) - b);
    else
      i = static_cast<std::size_t>(
        std::upper_bound(a, advanced(a, na), *advanced(b, j), std::ref(less_)) - a);
    m.fork_merge([&, i, j](member& k) { run(k, a, i, b, j, to); },
                 [&, i, j](member& k) {
                   run(k, advanced(a, i), na - i, advanced(b, j), nb - j, advanced(to, i + j));
                 });
  }

private:
  /// Merged without a safepoint.
  static constexpr std::size_t leaf = 512;

  /// The same of numbers: 4 us. A search and a fork take as long as 100 of them. If few are from
  /// one of the two, most of a smaller leaf is only copied.
  static constexpr std::size_t number_leaf = 2048;

  template <class A>
  static auto pointer_to(A it) {
    if constexpr (std::is_same_v<A, std::move_iterator<std::iter_value_t<A>*>>)
      return it.base();
    else
      return it;
  }

  /// In arrays, and compared by an instruction.
  template <class A, class B, class To>
  static consteval bool are_numbers() {
    using value = std::iter_value_t<A>;
    constexpr bool from_arrays
      = std::is_pointer_v<decltype(pointer_to(
          std::declval<A>()))> && std::is_pointer_v<decltype(pointer_to(std::declval<B>()))>;
    return is_branch_free<Less, value> && from_arrays && std::is_same_v<To, value*>;
  }

  Less& less_;
};

struct merge_function : range_algorithm {
  static constexpr bool has_more_ranges = true;

  template <element_range First, element_range Second, element_range Output,
            class Less = std::ranges::less>
  void operator()(member& m, First&& first, Second&& second, Output&& output,
                  Less less = {}) const {
    using value = std::ranges::range_value_t<First>;
    static_assert(std::is_same_v<value, std::ranges::range_value_t<Second>>,
                  "merge() takes two ranges with elements of the same type");
    auto order = order_of<value>(less);
    parallel_merge<decltype(order)>{order}.run(m, elements_of(first), count_of(first),
                                               elements_of(second), count_of(second),
                                               written_elements_of(output));
  }
};

} // namespace detail

/// `merge(where, first, second, output, less = ranges::less)`: copies the elements
/// of two sorted ranges to `output`, which has as many as both and overlaps with
/// neither, so that it is sorted; equal ones stay in their order, those of
/// `first` before those of `second`, as by std::merge. n comparisons and some
/// log n for each fork, no memory.
/// @throws any exception of `less`; `output` is then partly written
inline constexpr pure<detail::merge_function{}> merge{"merge"};

} // namespace basal::posse
