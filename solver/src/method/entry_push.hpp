// One entry of x by pushing backwards from it (Andersen, Borgs, Chayes, Hopcroft, Mirrokni, Teng,
// "Local computation of PageRank contributions", WAW 2007, for any matrix whose rows dominate).
//
// It keeps x_t = estimate + sum of r_i x_i: at first r is 1 at t alone; to push i adds
// r_i b_i / a_ii to the estimate and moves -r_i a_ij / a_ii to each j of row i. Since the rows
// dominate, |x_i| is at most bound = max |b_i| / (|a_ii| - sum of |a_ij|) (Ahlberg and Nilson
// 1963), and so |x_t - estimate| <= |r|_1 bound.
#pragma once

#include <limits>
#include <type_traits>
#include <vector>

#include "method/push_queue.hpp"
#include "method/vector_iteration.hpp"

namespace basal::solver::detail {

// The largest that an entry of x can be, given b.
template <class T>
double solution_bound(const problem<T>& p) noexcept {
  const auto& weights = p.plan.walks->end_weight;
  double bound = 0;
  for (std::size_t i = 0; i < p.b.size(); ++i)
    bound = std::max(bound, std::abs(static_cast<double>(p.b[i]) * weights[i]));
  return bound;
}

template <class T>
class entry_push {
public:
  static std::uint64_t scratch_bytes(std::size_t n) noexcept {
    return carver::bytes_for<double>(n) + push_queue::scratch_bytes(n);
  }

  entry_push(const problem<T>& p, carver& scratch) noexcept
    : problem_(p), r_(scratch.take<double>(p.b.size())), queue_(p.b.size(), scratch) {
    const index_type entry = *p.plan.options.entry;
    std::fill(r_.begin(), r_.end(), 0.0);
    r_[static_cast<std::size_t>(entry)] = 1;
    queue_.push(entry);
  }

  // Up to `pushes` of residuals above the threshold, which sinks when there is none. False when
  // nothing is left to push.
  bool run(int pushes) noexcept {
    for (; pushes > 0; --pushes) {
      while (queue_.empty()) {
        if (!sink())
          return false;
      }
      push(queue_.pop());
    }
    return true;
  }

  double estimate() const noexcept {
    return estimate_;
  }

  // A residual of so little mass tells less than the rounding errors of its pushes.
  static constexpr double least_mass = 64 * std::numeric_limits<double>::epsilon();

  static constexpr const char* too_wide = "rounding errors keep the interval wider than asked";

  // Of the estimate and of what is stored of it: so much is added to each interval.
  static double rounding(double bound, double estimate) noexcept {
    const double stored = std::is_same_v<T, double> ? 0 : double{std::numeric_limits<T>::epsilon()};
    return least_mass * bound + stored * std::abs(estimate);
  }

  // The 1-norm of the residual, from which the error bound follows. A sum over all of it.
  double mass() const noexcept {
    double sum = 0;
    for (const double x : r_)
      sum += std::abs(x);
    return sum;
  }

  std::span<const double> residual() const noexcept {
    return r_;
  }

private:
  void push(index_type i) noexcept {
    const double amount = r_[static_cast<std::size_t>(i)];
    r_[static_cast<std::size_t>(i)] = 0;
    const auto& a = *problem_.plan.a.matrix();
    const double scaled
      = amount * static_cast<double>(problem_.plan.inverse_diagonal[static_cast<std::size_t>(i)]);
    estimate_ += scaled * static_cast<double>(problem_.b[static_cast<std::size_t>(i)]);
    const auto columns = a.row_columns(i);
    const auto values = a.row_values(i);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (columns[k] == i)
        continue;
      auto& changed = r_[static_cast<std::size_t>(columns[k])];
      changed -= scaled * static_cast<double>(values[k]);
      if (std::abs(changed) > threshold_)
        queue_.push(columns[k]);
    }
  }

  bool sink() noexcept {
    double largest = 0;
    for (const double x : r_)
      largest = std::max(largest, std::abs(x));
    if (largest == 0)
      return false;
    threshold_ = largest / 10;
    for (std::size_t i = 0; i < r_.size(); ++i) {
      if (std::abs(r_[i]) > threshold_)
        queue_.push(static_cast<index_type>(i));
    }
    return true;
  }

  problem<T> problem_;
  std::span<double> r_;
  push_queue queue_;
  double threshold_ = 0.1;
  double estimate_ = 0;
};

} // namespace basal::solver::detail
