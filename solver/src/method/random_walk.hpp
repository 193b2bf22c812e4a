// One entry of x with a confidence interval: pushing backwards for a while, then random walks for
// what is left (the combination of FORA: Wang, Yang, Xiao, Wei, Yang, KDD 2017; here for any
// matrix whose rows dominate).
//
// Pushing leaves x_t = estimate + sum of r_i x_i. A walk begins at i with probability |r_i|/|r|_1,
// goes from i to j with probability |h_ij|, carries the signs, and ends with what is left of 1
// (von Neumann and Ulam; Forsythe and Leibler, MTAC 4 (1950)). Where it ends, at e,
// +-|r|_1 b_e / (a_ee (1 - sum of |h_ej|)) has the expectation of the sum and is bounded by
// |r|_1 max |x|.
//
// The interval is the empirical Bernstein bound (Audibert, Munos, Szepesvari, Theor. Comput. Sci.
// 410 (2009)): no assumption on the distribution but its range. It is looked at after 1, 2, 4, ...
// batches of walks, and look k spends 1/(k (k + 1)) of the admitted error, so that stopping at a
// good moment does not cheat (Mnih, Szepesvari, Audibert, "Empirical Bernstein stopping", ICML
// 2008).
#pragma once

#include "method/entry_push.hpp"
#include "method/walk_table.hpp"
#include "portable_math.hpp"

#include <basal/solver/detail/random.hpp>

namespace basal::solver::detail {

template <class T>
class random_walk final : public iteration {
public:
  static constexpr method_facts facts{.name = "random_walk",
                                      .reading = reading::walks,
                                      .divides_by_diagonal = true,
                                      .needs_dominance = dominance::rows,
                                      .one_entry = true};

  static std::uint64_t scratch_bytes(const plan_data<T>& p) noexcept {
    return entry_push<T>::scratch_bytes(p.size()) + carver::bytes_for<index_type>(p.size())
           + carver::bytes_for<double>(p.size());
  }

  random_walk(const problem<T>& p, carver scratch) noexcept
    : problem_(p),
      bound_(solution_bound(p)),
      half_width_(bound_),
      push_(p, scratch),
      starts_(scratch.take<index_type>(p.b.size())),
      until_(scratch.take<double>(p.b.size())) {
    p.x[0] = 0;
  }

  step_report start() const noexcept override {
    return {1, bound_ == 0 ? state::converged : state::running};
  }

  step_report step() noexcept override {
    if (!pushed_)
      return push();
    const auto& options = problem_.plan.options;
    for (std::uint32_t i = 0; i < options.walks_per_step; ++i)
      count(walk(walks_));
    if (++batches_ < next_look_)
      return {relative_, state::running};
    next_look_ *= 2;
    return look();
  }

  step_report finish() noexcept override {
    return {relative_, state::budget_exhausted};
  }

  double half_width() const noexcept override {
    return half_width_;
  }

  std::uint64_t walks() const noexcept override {
    return walks_;
  }

private:
  // Pushing spreads: the first pushes, near the entry, take most of the residual for their cost.
  // About as much work as one batch of walks.
  static constexpr int pushes = 64;

  step_report push() noexcept {
    pushed_ = true;
    push_.run(pushes);
    const auto r = push_.residual();
    nonnegative_ = problem_.plan.profile.opposite_signs;
    for (std::size_t i = 0; i < r.size(); ++i) {
      nonnegative_
        = nonnegative_ && r[i] >= 0
          && static_cast<double>(problem_.b[i]) * problem_.plan.walks->end_weight[i] >= 0;
      if (r[i] == 0)
        continue;
      mass_ += std::abs(r[i]);
      starts_[start_count_] = static_cast<index_type>(i);
      until_[start_count_++] = mass_;
    }
    const auto report = interval(mass_ * bound_, push_.estimate());
    if (report.state == state::running && mass_ < push_.least_mass)
      return end(state::stalled, relative_, push_.too_wide);
    return report;
  }

  double walk(std::uint64_t number) const noexcept {
    walk_numbers numbers{problem_.plan.options.seed, number};
    const auto drawn = numbers.next() * mass_;
    const auto found = std::upper_bound(
      until_.begin(), until_.begin() + static_cast<std::ptrdiff_t>(start_count_), drawn);
    const auto first = std::min(static_cast<std::size_t>(found - until_.begin()), start_count_ - 1);
    index_type at = starts_[first];
    double sign = push_.residual()[static_cast<std::size_t>(at)] < 0 ? -1 : 1;
    const auto& table = *problem_.plan.walks;
    while (const auto* step = table.next(at, numbers.next())) {
      if (step->to < 0)
        sign = -sign;
      at = step->to < 0 ? ~step->to : step->to;
    }
    const auto end = static_cast<std::size_t>(at);
    return sign * mass_ * static_cast<double>(problem_.b[end]) * table.end_weight[end];
  }

  // Welford's running mean and sum of squared deviations.
  void count(double value) noexcept {
    ++walks_;
    const double before = value - mean_;
    mean_ += before / static_cast<double>(walks_);
    deviations_ += before * (value - mean_);
  }

  step_report look() noexcept {
    ++looks_;
    const double admitted
      = (1 - problem_.plan.options.confidence) / static_cast<double>(looks_ * (looks_ + 1));
    const auto n = static_cast<double>(walks_);
    const double scale = portable_log(3 / admitted);
    const double range = (nonnegative_ ? 1 : 2) * mass_ * bound_;
    const double chance = std::sqrt(2 * (deviations_ / n) * scale / n) + 3 * range * scale / n;
    // The bound without walks holds for certain, and so is never given up for a worse one.
    if (chance >= half_width_)
      return {relative_, state::running};
    return interval(chance, push_.estimate() + mean_);
  }

  // `chance` is half of its width, but for rounding errors.
  step_report interval(double chance, double estimate) noexcept {
    half_width_ = chance + push_.rounding(bound_, estimate);
    problem_.x[0] = static_cast<T>(estimate);
    relative_ = std::min(1.0, half_width_ / std::abs(estimate));
    return {relative_, relative_ <= reachable<T>(problem_.plan.options.tolerance) ? state::converged
                                                                                  : state::running};
  }

  problem<T> problem_;
  double bound_;
  double half_width_;
  entry_push<T> push_;
  std::span<index_type> starts_;
  std::span<double> until_;
  std::size_t start_count_ = 0;
  double mass_ = 0;
  bool nonnegative_ = false;
  bool pushed_ = false;

  std::uint64_t walks_ = 0;
  double mean_ = 0;
  double deviations_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t next_look_ = 1;
  std::uint64_t looks_ = 0;
  double relative_ = 1;
};

} // namespace basal::solver::detail
