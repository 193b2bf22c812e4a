#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/block_value.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>
#include <basal/posse/range_fork.hpp>

namespace basal::posse::detail {

constexpr std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// The least elements of each of some parts that are combined by turns, so that these do not wait
/// for each other: of fewer, too many would be the first ones of a part, which are not foretold.
inline constexpr std::size_t least_by_turns = 32;

/// The tree in which reduce() combines large values in order, see `reduction`, and scans
/// those of a unit: halves, the left one rounded up, where there is a choice, to a multiple of a
/// block whose tree the compiler unrolls. In a sequential loop every operation
/// would wait for the last one; here most are independent.
template <class T, class Source, class Op>
class fold_tree {
public:
  /// `source(member&, i)` is element i. Both must outlive this.
  fold_tree(Source& source, Op& op) noexcept : source_(source), op_(op) {
  }

  static constexpr std::size_t left_of(std::size_t n) noexcept {
    auto half = (n + 1) / 2;
    return n > block ? round_up(half, block) : n > group ? round_up(half, group) : half;
  }

  T leaf(member& m, std::size_t first, std::size_t n) const {
    BASAL_ASSERT(n >= 1, "a part of a reduction has a value at least");
    if (n == 1)
      return source_(m, first);
    if constexpr (group > 1) {
      if (n == block)
        return whole_block(m, first);
      if (n == group)
        return unrolled<group>([&](std::size_t i) -> T { return source_(m, first + i); });
    }
    auto left = left_of(n);
    T a = leaf(m, first, left);
    T b = leaf(m, first + left, n - left);
    return static_cast<T>(op_(std::move(a), std::move(b)));
  }

  T merge(T&& a, T&& b) const {
    return static_cast<T>(op_(std::move(a), std::move(b)));
  }

private:
  static constexpr std::size_t group = is_small_result<T> ? 16 : 1;
  static constexpr std::size_t groups = is_small_result<T> ? 8 : 1;
  static constexpr std::size_t block = group * groups;

  /// The balanced tree of `Count` values, a power of two.
  template <std::size_t Count, class At>
  [[gnu::always_inline]] T unrolled(const At& at) const {
    if constexpr (Count == 1) {
      return at(0);
    } else {
      // Arguments of one call would be evaluated in any order.
      T a = unrolled<Count / 2>(at);
      T b = unrolled<Count / 2>([&](std::size_t i) -> T { return at(Count / 2 + i); });
      return static_cast<T>(op_(std::move(a), std::move(b)));
    }
  }

  T whole_block(member& m, std::size_t first) const {
    std::array<T, groups> partial;
    for (std::size_t g = 0; g != groups; ++g)
      partial[g]
        = unrolled<group>([&](std::size_t i) -> T { return source_(m, first + g * group + i); });
    return unrolled<groups>([&](std::size_t i) -> T { return partial[i]; });
  }

  Source& source_;
  Op& op_;
};

/// Operations that may be applied in any order, because they are commutative
/// (bit for bit, on floating-point numbers too) and cannot fail: elements of a
/// block can go to as many accumulators as vector registers have lanes.
template <class Op, class T>
inline constexpr bool is_lanewise = std::conjunction_v<
  std::is_arithmetic<T>, std::negation<std::is_same<T, bool>>,
  std::disjunction<std::is_same<Op, std::plus<>>, std::is_same<Op, std::plus<T>>,
                   std::is_same<Op, std::multiplies<>>, std::is_same<Op, std::multiplies<T>>>>;

/// Four registers of 16 bytes.
template <class T>
inline constexpr std::size_t lanes_of = 64 / sizeof(T);

/// The value that changes none, bit for bit: 1 in products; 0 in sums, which is the negative one of
/// floating-point numbers, as 0. added to -0. is 0., and as they are rounded to nearest.
template <class Op, class T>
constexpr T neutral_of() noexcept {
  if constexpr (std::is_same_v<Op, std::plus<>> || std::is_same_v<Op, std::plus<T>>)
    return std::is_floating_point_v<T> ? static_cast<T>(-0.) : T{};
  else
    return T{1};
}

/// `value(at)` of the n >= 1 elements from `at` on, combined by such an operation. By an iterator
/// that goes on, as in a loop: of a number that is narrower than an index, and made of one, the
/// compiler does not know that it does not wrap, and vectorises nothing.
template <class T, class Iterator, class Value, class Op>
[[gnu::always_inline]] inline T in_lanes(Iterator at, std::size_t n, const Value& value,
                                         const Op& op) {
  constexpr auto lanes = lanes_of<T>;
  if (n < 2 * lanes) {
    T sum = value(at);
    for (const auto end = advanced(at, n); ++at != end;)
      sum = static_cast<T>(op(sum, value(at)));
    return sum;
  }
  T sum[lanes];
  if constexpr (is_lanewise<Op, T>) { // g++ 12 makes no vectors of the first elements by themselves
    std::fill(sum, sum + lanes, neutral_of<Op, T>());
  } else {
    for (std::size_t j = 0; j != lanes; ++j, ++at)
      sum[j] = value(at);
    n -= lanes;
  }
  for (; n >= lanes; n -= lanes)
    for (std::size_t j = 0; j != lanes; ++j, ++at)
      sum[j] = static_cast<T>(op(sum[j], value(at)));
  for (std::size_t j = 0; j != n; ++j, ++at)
    sum[j] = static_cast<T>(op(sum[j], value(at)));
  for (std::size_t width = lanes / 2; width != 0; width /= 2)
    for (std::size_t j = 0; j != width; ++j)
      sum[j] = static_cast<T>(op(sum[j], sum[j + width]));
  return sum[0];
}

/// A reduction over the elements [0, n), n at least 1, with block values: a range of at most
/// `most_blocks` blocks, whose values are combined at the end. A block's size depends on n alone,
/// and so does how elements are combined. In a sequential loop every operation would wait for the
/// last one; here one in `group` does, or blocks go by turns. Not inlined, as ranges are not.
template <class T, class Op>
class block_fold {
public:
  explicit block_fold(Op& op) noexcept : op_(op) {
  }

  /// Of `function(at[i])`, for each i below n.
  template <class Iterator, class Function>
  T run(member& m, Iterator at, std::size_t n, Function& function) const {
    BASAL_ASSERT(n >= 1, "a reduction has a value at least");
    if (n <= few) {
      value_room<T, few> values;
      return single(m, at, n, function, values.data());
    }
    if constexpr (may_be_some<Iterator, Function>)
      if (n <= some)
        return some_singles(m, at, n, function);
    return in_blocks(m, at, n, function);
  }

private:
  static constexpr bool in_any_order = is_lanewise<std::remove_const_t<Op>, T>;

  /// The result is the same whichever elements are combined first, so blocks that one member goes
  /// through are one: the last ones of short blocks would be a loop each.
  static constexpr bool is_nested_anyhow = in_any_order && std::is_integral_v<T>;

  /// Whether the operation is likely to have no branches. Of two elements that stand side by side
  /// the lesser one is not foretold, as it is of an element and the least so far: by groups the
  /// least of a million pairs took six times as long.
  static constexpr bool is_straight
    = std::disjunction_v<std::is_arithmetic<T>, std::is_same<std::remove_const_t<Op>, std::plus<>>,
                         std::is_same<std::remove_const_t<Op>, std::plus<T>>>;

  /// Values that have no room in registers, beside those that they are made of.
  static constexpr bool is_large = sizeof(T) > 48;

  /// Elements of a group: as many as have room in registers.
  static constexpr std::size_t group = !is_straight || is_large ? 1 : sizeof(T) <= 16 ? 4 : 2;

  /// Blocks that are gone through by turns where there are no groups.
  static constexpr std::size_t streams = 4;

  /// Elements of a block: a power of two. Where they are gone through by turns and long, a line
  /// more: powers of two apart, all would compete for one set of a cache (the nearest of a million
  /// points took 1.7 times as long). The range takes them for the power of two.
  static constexpr std::size_t size_of_block(int bits) noexcept {
    constexpr std::size_t line = 16;
    const auto size = std::size_t{1} << bits;
    return group == 1 && !in_any_order && size >= 256 ? size + line : size;
  }

  /// Fewer, and so longer ones, where they gain from lanes, or where the first comparisons of each
  /// are not foretold.
  static constexpr std::size_t most_blocks
    = group > 1 && sizeof(T) <= 16 && !in_any_order ? 2 * usual_blocks : usual_blocks;

  /// Elements whose values are combined when there are all of them: in lanes that is cheaper than
  /// blocks of a few elements, for as many as have room in 4 KiB.
  static constexpr std::size_t most_singles
    = in_any_order && !is_nested_anyhow ? std::max(most_blocks, 4096 / sizeof(T)) : most_blocks;

  /// Where functions call themselves by way of reductions, room for more costs a sixth of their
  /// time (a backtracking search with two to nine branches).
  static constexpr std::size_t few = 16;

  /// Up to so many elements are a block each in single(), too, if they may fork: in in_blocks() one
  /// element costs more than a branch that ends at once. Langford's pairs, with up to 20 branches,
  /// took twice as long; more branches were not measured.
  static constexpr std::size_t some = 32;

  template <class Iterator, class Function>
  static constexpr bool may_be_some
    = !is_large && is_called_with_member<Function, decltype(*std::declval<Iterator&>())>;

  /// A value that is assigned is made elsewhere, and copied. But where pairs are constructed, code
  /// of g++ 12 takes an eighth longer for 100 of them.
  static constexpr bool is_made_in_place = std::is_trivially_copy_assignable_v<T>;

  /// Each element is a block, with its place in `values`. A few are combined one after the other:
  /// pair by pair they take up to a third more where functions call themselves this way.
  template <class Iterator, class Function>
  [[gnu::noinline]] T single(member& m, Iterator at, std::size_t n, Function& function,
                             T* values) const {
    auto body = [ at, near = near_to<decltype(*at)>(function), all = values ](
      member & k, std::size_t first, std::size_t last) __attribute__((always_inline)) {
      auto&& f = near.get();
      for (auto i = first; i != last; ++i)
        if constexpr (is_made_in_place)
          ::new (static_cast<void*>(all + i)) T(static_cast<T>(call_with(f, k, *advanced(at, i))));
        else
          all[i] = static_cast<T>(call_with(f, k, *advanced(at, i)));
    };
    range_fork<decltype(body)>{body}.run(m, 0, n);
    if constexpr (may_be_some<Iterator, Function>)
      if (n > few) // as the blocks that they would be if they did not fork
        return all_of(m, values, n);
    T result = values[0];
    for (std::size_t i = 1; i < n; ++i)
      result = combined(result, std::move(values[i]));
    return result;
  }

  template <class Iterator, class Function>
  [[gnu::noinline]] T some_singles(member& m, Iterator at, std::size_t n,
                                   Function& function) const {
    value_room<T, some> values;
    return single(m, at, n, function, values.data());
  }

  template <class Iterator, class Function>
  [[gnu::noinline]] T in_blocks(member& m, Iterator at, std::size_t n, Function& function) const {
    const auto bits
      = n <= most_singles ? 0 : static_cast<int>(std::bit_width((n - 1) / most_blocks));
    const auto size = size_of_block(bits);
    const auto count = (n - 1) / size + 1;
    value_room<T, most_singles> room;
    T* const values = room.data(count);
    auto body = [this, at, n, near = near_to<decltype(*at)>(function), size,
                 all = values](member& k, std::size_t first, std::size_t last) {
      auto&& f = near.get();
      const auto value = [&](Iterator i) { return static_cast<T>(call_with(f, k, *i)); };
      const auto end_of = [=](std::size_t block) { return std::min(block * size, n); };
      if constexpr (is_nested_anyhow) {
        const auto begin = first * size;
        all[first] = in_lanes<T>(advanced(at, begin), end_of(last) - begin, value, op_);
        std::fill(all + first + 1, all + last, neutral_of<std::remove_const_t<Op>, T>());
        return;
      }
      if (size == 1) { // no loops of one element each
        auto from = advanced(at, first);
        for (auto i = first; i != last; ++i, ++from)
          if constexpr (is_made_in_place)
            ::new (static_cast<void*>(all + i)) T(value(from));
          else
            all[i] = value(from);
        return;
      }
      constexpr bool are_apart
        = group == 1 && !in_any_order
          && !is_called_with_member<std::remove_reference_t<decltype(f)>, decltype(*at)>;
      auto i = first;
      if constexpr (are_apart) // else these may fork, and end as they began
        if (size >= least_by_turns)
          for (; last - i >= streams && (i + streams) * size <= n; i += streams)
            by_turns(all + i, value, advanced(at, i * size), size);
      for (; i != last; ++i) {
        const auto begin = advanced(at, i * size);
        const auto elements = end_of(i + 1) - i * size;
        if constexpr (in_any_order)
          all[i] = in_lanes<T>(begin, elements, value, op_);
        else if constexpr (group > 1)
          all[i] = in_groups(value, begin, elements);
        else
          one_by_one(all[i], value, begin, elements);
      }
    };
    const auto least_step = group == 1 && size >= least_by_turns ? streams : 1;
    range_fork<decltype(body)>{body, bits, 0, least_step}.run(m, 0, count);
    return all_of(m, values, count);
  }

  /// Of the n >= 1 elements from `at` on, one after the other. `result` may be the first one. The
  /// first of small values by way of memory: g++ 12 then keeps a pair of a double and a number in
  /// two kinds of registers and branches at a comparison, else it moves conditionally, and each
  /// element waits for the last.
  template <class Value, class Iterator>
  [[gnu::always_inline]] inline void one_by_one(T& result, const Value& value, Iterator at,
                                                std::size_t n) const {
    if constexpr (is_large) { // no copy more
      T so_far = value(at);
      for (const auto end = advanced(at, n); ++at != end;)
        so_far = combined(so_far, value(at));
      ::new (static_cast<void*>(std::addressof(result))) T(so_far);
    } else {
      result = value(at);
      T so_far = result;
      for (const auto end = advanced(at, n); ++at != end;)
        so_far = combined(so_far, value(at));
      result = so_far;
    }
  }

  /// The same for `streams` blocks of n elements, by turns, so that these do not wait for each
  /// other, whatever the compiler makes of a comparison: the nearest of 30,000 points and its
  /// number took three times as long one by one where it does not branch. Of a block's parts
  /// instead of blocks, more elements would be the least so far, which is not foretold.
  template <class Value, class Iterator>
  [[gnu::always_inline]] inline void by_turns(T* results, const Value& value, Iterator at,
                                              std::size_t n) const {
    const auto of = [&](std::size_t stream, std::size_t i) { return advanced(at, stream * n + i); };
    try {
      static_assert(streams == 4);
      T so_far[streams] = {value(of(0, 0)), value(of(1, 0)), value(of(2, 0)), value(of(3, 0))};
      for (std::size_t i = 1; i != n; ++i)
        for (std::size_t s = 0; s != streams; ++s)
          so_far[s] = combined(so_far[s], value(of(s, i)));
      for (std::size_t s = 0; s != streams; ++s)
        results[s] = so_far[s]; // at last: they may be among the elements
    } catch (...) {
      for (std::size_t s = 0; s != streams; ++s) // throws what comes first in the order of elements
        one_by_one(results[s], value, of(s, 0), n);
      throw;
    }
  }

  /// Of the n >= 1 elements from `at` on: group after group, in registers. In a group operations do
  /// not wait for those before it.
  template <class Value, class Iterator>
  [[gnu::always_inline]] inline T in_groups(const Value& value, Iterator at, std::size_t n) const {
    if (n < group) {
      T result = of_group<1>(value, at);
      for (std::size_t i = 1; i < n; ++i)
        result = combined(result, of_group<1>(value, at));
      return result;
    }
    T result = of_group<group>(value, at);
    auto done = group;
    for (; n - done >= group; done += group)
      result = combined(result, of_group<group>(value, at));
    for (; done != n; ++done)
      result = combined(result, of_group<1>(value, at));
    return result;
  }

  /// Of the next `Count` elements, a power of two.
  template <std::size_t Count, class Value, class Iterator>
  [[gnu::always_inline]] inline T of_group(const Value& value, Iterator& at) const {
    if constexpr (Count == 1) {
      T result = value(at);
      ++at;
      return result;
    } else {
      // Arguments of one call would be evaluated in any order.
      T a = of_group<Count / 2>(value, at);
      T b = of_group<Count / 2>(value, at);
      return combined(a, std::move(b));
    }
  }

  [[gnu::always_inline]] inline T combined(T& a, T&& b) const {
    return static_cast<T>(op_(std::move(a), std::move(b)));
  }

  T all_of([[maybe_unused]] member& m, T* values, std::size_t n) const {
    if constexpr (in_any_order) {
      return in_lanes<T>(
        values, n, [](const T* value) { return *value; }, op_);
    } else if constexpr (is_large) {
      return all_of_large(m, values, n);
    } else if constexpr (group == 1) {
      const auto size = n / streams;
      const bool by_quarters = size >= least_by_turns;
      if (by_quarters)
        by_turns(
          values, [](const T* value) { return *value; }, values, size);
      T result = values[0];
      const auto add = [&](std::size_t first, std::size_t last) {
        for (auto i = first; i != last; ++i)
          result = combined(result, std::move(values[i]));
      };
      add(1, by_quarters ? streams : n);
      add(by_quarters ? streams * size : n, n);
      return result;
    } else {
      halve(values, n);
      return values[0];
    }
  }

  /// Values of a part of those: with as many parts, each is a sixteenth of all.
  static constexpr std::size_t part = 16;

  /// Operations on large values may take as long as all that the elements do, where these are few
  /// or cheap, as those of a product of matrices are. So the values are a range, too: of parts,
  /// whose values are combined then.
  [[gnu::noinline]] T all_of_large(member& m, T* values, std::size_t n) const {
    const std::size_t step = n < 2 * part ? 1 : part;
    if (step != 1) {
      auto body = [this, values, n](member&, std::size_t first, std::size_t last) {
        for (auto at = first * part; first != last; ++first, at += part)
          one_by_one(
            values[at], [](const T* value) { return *value; }, values + at, std::min(part, n - at));
      };
      range_fork<decltype(body)>{body}.run(m, 0, (n - 1) / part + 1);
    }
    T result = values[0];
    for (auto i = step; i < n; i += step)
      result = combined(result, std::move(values[i]));
    return result;
  }

  /// Combines neighbours until one is left, values[0].
  void halve(T* values, std::size_t n) const {
    while (n > 1) {
      const auto pairs = n / 2;
      for (std::size_t i = 0; i != pairs; ++i)
        values[i] = combined(values[2 * i], std::move(values[2 * i + 1]));
      if (n % 2 != 0)
        values[pairs] = values[n - 1];
      n = pairs + n % 2;
    }
  }

  Op& op_;
};

/// `Op` over elements at `Iterator` can be done so, with results of type T.
template <class Iterator, class T, class Op>
inline constexpr bool folds_in_lanes
  = std::conjunction_v<std::is_pointer<Iterator>, std::is_same<std::iter_value_t<Iterator>, T>,
                       std::bool_constant<is_lanewise<Op, T>>>;

/// The reduction by those, over numbers in memory: sums of blocks of a fixed
/// size, since their cost is known, and then the sum of these.
template <class T, class Op>
class lanes_fold {
public:
  /// @param n at least 1
  static T run(member& m, const T* first, std::size_t n, const Op& op) {
    if (n <= block)
      return leaf(first, n, op);
    std::vector<T> sums(round_up(n, block) / block);
    auto body = [&](member&, std::size_t i, std::size_t end) {
      for (; i != end; ++i)
        sums[i] = leaf(first + i * block, std::min(block, n - i * block), op);
    };
    range_fork<decltype(body)>{body}.run(m, 0, sums.size());
    return run(m, sums.data(), sums.size(), op);
  }

  /// The value of n >= 1 elements.
  static T leaf(const T* first, std::size_t n, const Op& op) {
    return in_lanes<T>(
      first, n, [](const T* at) { return *at; }, op);
  }

private:
  static constexpr std::size_t block = 16384 / sizeof(T); ///< half a first-level cache
};

} // namespace basal::posse::detail
