#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/collector.hpp>
#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/fold.hpp>
#include <basal/posse/pure.hpp>
#include <basal/posse/range_fork.hpp>

namespace basal::posse {
namespace detail {

/// A scan in units of consecutive elements. The value before unit u + 1 is the value before u,
/// combined with the sum of u, whoever computes it and when; so the outcome does not depend on
/// thefts.
///
/// The member that began knows what is before each unit that it comes to: it sums up and scans
/// while the elements are in the cache. A thief does not know: it only sums up its units, which
/// then are scanned in parallel after the merge.
template <bool Inclusive, class In, class Out, class T, class Op>
class scan {
public:
  scan(In in, Out out, std::size_t n, Op& op) noexcept
    : in_(in), out_(out), n_(n), op_(op), unit_(unit_for(n)), units_(round_up(n, unit_) / unit_) {
  }

  void run(member& m, T before) const {
    check_operation<T, Op, std::iter_value_t<In>>();
    std::size_t scanned = 0; // units, by `m`
    sums_of_units sums(units_);
    for_groups(m, 0, units_, [&](member& k, std::size_t first, std::size_t last) {
      // It may take back a part that nobody had begun, behind one that somebody has.
      if (&k == &m && first == scanned) {
        before = sum_and_scan(k, first, last, std::move(before));
        scanned = last;
      } else {
        for (; first != last; ++first)
          sums[first].emplace(sum(k, first));
      }
    });
    if (scanned != units_)
      scan_summed(m, scanned, std::move(before), sums);
  }

private:
  /// Sums and the like of integers wait no longer for the one before than a store takes, and are
  /// the same in whatever order: units whose beginning is known need not be summed up first.
  static constexpr bool is_one_pass
    = std::is_integral_v<
        T> && std::is_integral_v<std::iter_value_t<In>> && is_lanewise<std::remove_const_t<Op>, T>;

  /// Units that are scanned at the same time: each operation of a scan waits
  /// for the one before it, but not for those in other units.
  static constexpr std::size_t lanes = std::is_arithmetic_v<T> && !is_one_pass ? 4 : 1;

  // Numbers are cheap, and a unit of them has 5 KiB: with a power of two, four
  // units would meet in the same sets of the cache. Of other elements there may
  // be few and expensive ones.
  static constexpr std::size_t unit_for(std::size_t n) noexcept {
    if constexpr (is_one_pass)
      return 16384 / sizeof(T);
    else if constexpr (std::is_arithmetic_v<T>)
      return std::clamp<std::size_t>(round_up(n, lanes) / lanes, 64, 5120 / sizeof(T));
    else
      return std::clamp<std::size_t>(std::bit_floor(n / 128), 1, 1024);
  }

  using sums_of_units = executors::visible_vector<std::optional<T>>;

  /// Calls `body(member&, first, last)` for each group of units in [begin, end), of as many as
  /// there are lanes.
  template <class Body>
  void for_groups(member& m, std::size_t begin, std::size_t end, const Body& body) const {
    auto groups = [&](member& k, std::size_t group, std::size_t last_group) {
      for (; group != last_group; ++group) {
        const auto first = begin + group * lanes;
        body(k, first, std::min(end, first + lanes));
      }
    };
    const auto each = static_cast<int>(std::bit_width(lanes * unit_)) - 1;
    range_fork<decltype(groups)>{groups, each}.run(m, 0, round_up(end - begin, lanes) / lanes);
  }

  /// Scans the units from `first` on, whose sums are known. Uses these up.
  void scan_summed(member& m, std::size_t first, T before, sums_of_units& sums) const {
    for (auto u = first; u != units_; ++u) { // becomes what is before the unit
      T after = static_cast<T>(op_(before, std::move(*sums[u])));
      sums[u].emplace(std::move(before));
      before = std::move(after);
    }
    for_groups(m, first, units_, [&](member&, std::size_t u, std::size_t last) {
      scan_known(u, last, [&](std::size_t unit) -> T { return std::move(*sums[unit]); });
    });
  }

  /// Sums up and scans at most `lanes` units. @returns the value after them
  T sum_and_scan(member& m, std::size_t first, std::size_t last, T before) const {
    if constexpr (is_one_pass) {
      return scan_unit(first, before);
    } else if constexpr (lanes == 1) {
      return sum_and_scan_unit(first, std::move(before));
    } else {
      scan_known(first, last, [&](std::size_t u) -> T {
        T start = before;
        before = static_cast<T>(op_(std::move(before), sum(m, u)));
        return start;
      });
      return before;
    }
  }

  /// Scans at most `lanes` units; `before(u)` is what comes before unit u.
  template <class Before>
  void scan_known(std::size_t first, std::size_t last, Before&& before) const {
    if constexpr (lanes > 1) {
      if (last - first == lanes) {
        std::array<T, lanes> starts;
        for (std::size_t lane = 0; lane != lanes; ++lane) {
          prefetch_output(first + lane);
          starts[lane] = before(first + lane);
        }
        scan_in_lanes(first, starts);
        return;
      }
    }
    for (; first != last; ++first)
      scan_unit(first, before(first));
  }

  std::size_t size_of(std::size_t unit) const noexcept {
    return std::min(unit_, n_ - unit * unit_);
  }

  /// Of numbers most operations are independent of each other; of others, that may be dear to copy,
  /// none is kept.
  T sum(member& m, std::size_t unit) const {
    auto from = advanced(in_, unit * unit_);
    if constexpr (folds_in_lanes<In, T, std::remove_const_t<Op>>) {
      return lanes_fold<T, std::remove_const_t<Op>>::leaf(from, size_of(unit), op_);
    } else if constexpr (std::is_arithmetic_v<T>) {
      auto source = [&](member&, std::size_t i) -> T { return static_cast<T>(*advanced(from, i)); };
      return fold_tree<T, decltype(source), Op>{source, op_}.leaf(m, 0, size_of(unit));
    } else {
      T result = *from;
      for (const auto end = advanced(from, size_of(unit)); ++from != end;)
        result = static_cast<T>(op_(std::move(result), *from));
      return result;
    }
  }

  /// Stores of one number each fill the store buffer while it waits for a few
  /// cache lines; so these are fetched while the inputs are summed up. (A third
  /// of the time of a scan that does not fit in the cache.)
  void prefetch_output(std::size_t unit) const noexcept {
    if constexpr (std::is_pointer_v<Out>) {
      constexpr std::size_t line = std::max<std::size_t>(1, 64 / sizeof(*out_));
      for (std::size_t i = 0; i < size_of(unit); i += line)
        __builtin_prefetch(out_ + unit * unit_ + i, 1);
    }
  }

  /// Writes an element of the output, and makes `before` what is before the next one.
  static void write(const Out& to, T& before, T&& after) {
    if constexpr (Inclusive)
      *to = after;
    else
      *to = std::move(before);
    before = std::move(after);
  }

  /// @returns the value after the unit
  T scan_unit(std::size_t unit, T before) const {
    auto from = advanced(in_, unit * unit_);
    auto to = advanced(out_, unit * unit_);
    for (const auto end = advanced(from, size_of(unit)); from != end; ++from, ++to)
      write(to, before, static_cast<T>(op_(before, *from)));
    return before;
  }

  /// The same, with the sum that sum() has: neither waits for the other.
  T sum_and_scan_unit(std::size_t unit, T before) const {
    auto from = advanced(in_, unit * unit_);
    auto to = advanced(out_, unit * unit_);
    const auto end = advanced(from, size_of(unit));
    T so_far = before;
    T sum = *from;
    write(to, so_far, static_cast<T>(op_(so_far, *from)));
    if constexpr (std::is_same_v<T, std::iter_value_t<In>>)
      if (unit_ == 1) // as where a few are dear to combine
        return so_far;
    while (++from != end) {
      // Before it is written: the output's element may be the same one.
      sum = static_cast<T>(op_(std::move(sum), *from));
      write(++to, so_far, static_cast<T>(op_(so_far, *from)));
    }
    return static_cast<T>(op_(std::move(before), std::move(sum)));
  }

  /// Scans `lanes` adjacent units, of which the last one may be shorter.
  void scan_in_lanes(std::size_t first, std::array<T, lanes> before) const {
    auto from = advanced(in_, first * unit_);
    auto to = advanced(out_, first * unit_);
    const auto scan_one = [&](std::size_t lane, std::size_t i) {
      const auto at = lane * unit_ + i;
      write(advanced(to, at), before[lane], static_cast<T>(op_(before[lane], *advanced(from, at))));
    };
    const auto shortest = size_of(first + lanes - 1);
    for (std::size_t i = 0; i != shortest; ++i)
      for (std::size_t lane = 0; lane != lanes; ++lane)
        scan_one(lane, i);
    for (std::size_t lane = 0; lane != lanes - 1; ++lane)
      for (auto i = shortest; i != unit_; ++i)
        scan_one(lane, i);
  }

  In in_;
  Out out_;
  std::size_t n_;
  Op& op_;
  std::size_t unit_;
  std::size_t units_;
};

struct inclusive_scan_function : range_algorithm {
  static constexpr bool has_more_ranges = true;

  template <class... Args>
  static consteval void refuse() {
    static_assert(
      sizeof...(Args) == 0,
      "inclusive_scan takes a range, the range that it writes to, and, unless it is to add "
      "from the first element on, what combines two values and the initial one: "
      "inclusive_scan(m, numbers, out, std::plus<>{}, 0)");
  }

  template <element_range Range, element_range Output, class Op = std::plus<>>
  void operator()(member& m, Range&& range, Output&& output, Op&& op = {}) const {
    auto n = count_of(range);
    if (n == 0)
      return;
    // The first element is what comes before the others.
    auto in = elements_of(range);
    auto out = written_elements_of(output);
    std::ranges::range_value_t<Range> init = *in;
    *out = init;
    (*this)(m, advanced(in, 1), advanced(out, 1), n - 1, std::move(init), op);
  }

  template <element_range Range, element_range Output, class Op, class T>
  void operator()(member& m, Range&& range, Output&& output, Op&& op, T init) const {
    (*this)(m, elements_of(range), written_elements_of(output), count_of(range), std::move(init),
            op);
  }

private:
  template <class In, class Out, class T, class Op>
  void operator()(member& m, In in, Out out, std::size_t n, T init, Op& op) const {
    scan<true, In, Out, T, Op>{in, out, n, op}.run(m, std::move(init));
  }
};

struct exclusive_scan_function : range_algorithm {
  static constexpr bool has_more_ranges = true;

  template <class... Args>
  static consteval void refuse() {
    static_assert(
      sizeof...(Args) == 0,
      "exclusive_scan takes a range, the range that it writes to, the initial value and, "
      "unless it is to add, what combines two values: exclusive_scan(m, numbers, out, 0)");
  }

  template <element_range Range, element_range Output, class T, class Op = std::plus<>>
  void operator()(member& m, Range&& range, Output&& output, T init, Op&& op = {}) const {
    auto in = elements_of(range);
    auto out = written_elements_of(output);
    scan<false, decltype(in), decltype(out), T, std::remove_reference_t<Op>>{in, out,
                                                                             count_of(range), op}
      .run(m, std::move(init));
  }
};

} // namespace detail

/// `inclusive_scan(where, range, output, op = plus)` and
/// `inclusive_scan(where, range, output, op, init)`: element i of `output`,
/// which has at least as many, becomes `init` and the elements 0 to i combined
/// by `op`. `output` may be `range` itself. `op` must be associative, and is
/// applied at most twice per element, and for sums and products of integers once
/// where nothing is stolen; the result is the same bit for bit on every number of
/// executors, see `reduce`.
/// @throws any exception of `op`; `output` is then partly written
inline constexpr pure<detail::inclusive_scan_function{}> inclusive_scan{"inclusive_scan"};

/// `exclusive_scan(where, range, output, init, op = plus)`: the same with the
/// elements before i.
inline constexpr pure<detail::exclusive_scan_function{}> exclusive_scan{"exclusive_scan"};

} // namespace basal::posse
