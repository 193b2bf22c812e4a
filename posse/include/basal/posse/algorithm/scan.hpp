#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
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
/// A member that comes to a unit knows what is before it, and reads and writes
/// its elements while they are in the cache. A thief does not know: it only
/// sums up its units, which then are scanned in parallel after the merge.
template <bool Inclusive, class In, class Out, class T, class Op>
class scan {
public:
  scan(In in, Out out, std::size_t n, Op& op) noexcept
    : in_(in), out_(out), n_(n), op_(op), unit_(unit_for(n)) {
  }

  void run(member& m, T init) const {
    auto units = round_up(n_, unit_) / unit_;
    if (units != 0)
      run(m, 0, units, std::move(init));
  }

private:
  /// Sums and the like of integers wait no longer for the one before than a store takes, and are
  /// the same in whatever order: units whose beginning is known need not be summed up first.
  static constexpr bool is_one_pass
    = std::is_integral_v<T> && is_lanewise<std::remove_const_t<Op>, T>;

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
      return 5120 / sizeof(T);
    else
      return std::clamp<std::size_t>(std::bit_floor(n / 256), 1, 1024);
  }

  struct right_part {
    std::optional<T> after;
    executors::visible_vector<std::optional<T>> sums; ///< if stolen
  };

  /// Scans the units [first, last).
  /// @returns the value after them
  T run(member& m, std::size_t first, std::size_t last, T before) const {
    if (last - first <= lanes)
      return sum_and_scan(m, first, last, std::move(before));
    auto middle = first + round_up((last - first + 1) / 2, lanes);
    std::optional<T> between;
    auto right
      = m.fork_merge([&](member& k) { between.emplace(run(k, first, middle, std::move(before))); },
                     [&](member& k) -> right_part {
                       if (&k == &m)
                         return {run(k, middle, last, std::move(*between)), {}};
                       return {std::nullopt, sums(k, middle, last)};
                     })
          .second;
    if (right.after)
      return std::move(*right.after);
    return scan_summed(m, middle, last, std::move(*between), right.sums);
  }

  executors::visible_vector<std::optional<T>> sums(member& m, std::size_t first,
                                                   std::size_t last) const {
    executors::visible_vector<std::optional<T>> result(last - first);
    auto body = [&](member& k, std::size_t i, std::size_t end) {
      for (; i != end; ++i)
        result[i].emplace(sum(k, first + i));
    };
    range_fork<decltype(body)>{body}.run(m, 0, last - first);
    return result;
  }

  /// Scans units whose sums are known. Uses `sums` up.
  T scan_summed(member& m, std::size_t first, std::size_t last, T before,
                executors::visible_vector<std::optional<T>>& sums) const {
    for (auto& s : sums) { // becomes what is before the unit
      T after = static_cast<T>(op_(before, std::move(*s)));
      s.emplace(std::move(before));
      before = std::move(after);
    }
    auto body = [&](member& k, std::size_t group, std::size_t last_group) {
      for (; group != last_group; ++group) {
        k.poll();
        auto begin = group * lanes;
        scan_known(first + begin, std::min(last, first + begin + lanes),
                   [&](std::size_t u) -> T { return std::move(*sums[u - first]); });
      }
    };
    range_fork<decltype(body)>{body}.run(m, 0, round_up(last - first, lanes) / lanes);
    return before;
  }

  /// Sums up and scans at most `lanes` units. @returns the value after them
  T sum_and_scan(member& m, std::size_t first, std::size_t last, T before) const {
    if constexpr (is_one_pass) {
      m.poll();
      return scan_units<1>(first, {before})[0];
    }
    scan_known(first, last, [&](std::size_t u) -> T {
      T start = before;
      before = static_cast<T>(op_(std::move(before), sum(m, u)));
      return start;
    });
    return before;
  }

  /// Scans at most `lanes` units; `before(u)` is what comes before unit u.
  template <class Before>
  void scan_known(std::size_t first, std::size_t last, Before&& before) const {
    if constexpr (lanes > 1) {
      if (last - first == lanes && last * unit_ <= n_) {
        std::array<T, lanes> starts;
        for (std::size_t lane = 0; lane != lanes; ++lane) {
          prefetch_output(first + lane);
          starts[lane] = before(first + lane);
        }
        scan_units<lanes>(first, starts);
        return;
      }
    }
    for (; first != last; ++first)
      scan_units<1>(first, {before(first)});
  }

  std::size_t size_of(std::size_t unit) const noexcept {
    return std::min(unit_, n_ - unit * unit_);
  }

  T sum(member& m, std::size_t unit) const {
    auto from = advanced(in_, unit * unit_);
    if constexpr (folds_in_lanes<In, T, std::remove_const_t<Op>>) {
      return lanes_fold<T, std::remove_const_t<Op>>::leaf(from, size_of(unit), op_);
    } else {
      auto source = [&](member&, std::size_t i) -> T { return *advanced(from, i); };
      return fold_tree<T, decltype(source), Op>{source, op_}.leaf(m, 0, size_of(unit));
    }
  }

  /// Stores of one number each fill the store buffer while it waits for a few
  /// cache lines; so these are fetched while the inputs are summed up. (A third
  /// of the time of a scan that does not fit in the cache.)
  void prefetch_output(std::size_t unit) const noexcept {
    if constexpr (std::is_pointer_v<Out>) {
      constexpr std::size_t line = std::max<std::size_t>(1, 64 / sizeof(*out_));
      for (std::size_t i = 0; i < unit_; i += line)
        __builtin_prefetch(out_ + unit * unit_ + i, 1);
    }
  }

  /// Scans `Count` adjacent units of the same size.
  /// @returns the values after them
  template <std::size_t Count>
  std::array<T, Count> scan_units(std::size_t first, std::array<T, Count> sums) const {
    auto from = advanced(in_, first * unit_);
    auto to = advanced(out_, first * unit_);
    auto size = Count == 1 ? size_of(first) : unit_;
    for (std::size_t i = 0; i != size; ++i)
      for (std::size_t lane = 0; lane != Count; ++lane) {
        auto at = lane * unit_ + i;
        // Both are read before one is written: they may be the same element.
        T next = static_cast<T>(op_(sums[lane], *advanced(from, at)));
        if constexpr (Inclusive)
          *advanced(to, at) = next;
        else
          *advanced(to, at) = std::move(sums[lane]);
        sums[lane] = std::move(next);
      }
    return sums;
  }

  In in_;
  Out out_;
  std::size_t n_;
  Op& op_;
  std::size_t unit_;
};

struct inclusive_scan_function : range_algorithm {
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
/// applied twice per element, three times where stolen, and for sums and
/// products of integers once less; the result is the same bit for bit on every
/// number of executors, see `reduce`.
/// @throws any exception of `op`; `output` is then partly written
inline constexpr pure<detail::inclusive_scan_function{}> inclusive_scan{"inclusive_scan"};

/// `exclusive_scan(where, range, output, init, op = plus)`: the same with the
/// elements before i.
inline constexpr pure<detail::exclusive_scan_function{}> exclusive_scan{"exclusive_scan"};

} // namespace basal::posse
