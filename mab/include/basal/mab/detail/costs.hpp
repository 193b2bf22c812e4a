#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include <basal/mab/arm.hpp>
#include <basal/mab/detail/estimate.hpp>
#include <basal/mab/family.hpp>
#include <basal/mab/knobs.hpp>
#include <basal/mab/random.hpp>

namespace basal::mab {

/// The believed costs of the two arms, under the cost_model of the knobs.
///
/// corrected: inline costs `fn * (1 + k*p)`, since others wait meanwhile; offload
/// costs `fn + overhead`. So the arms differ by the *prices* `fn * k * p` and
/// `overhead`. The function time is seen whichever arm runs, so it is not worth
/// exploring and enters with its mean; the overhead is seen by offloading alone,
/// so it is drawn from its posterior (Thompson sampling), and while nobody
/// offloads, what is known about it fades towards the prior.
///
/// Not thread-safe; no allocation. All numbers are logarithms of microseconds.
class costs {
public:
  /// Two numbers of which the smaller wins. corrected: the prices above. The
  /// other models: the adjusted total costs.
  struct prices {
    double inline_log;
    double offload_log;

    arm lower() const noexcept {
      return inline_log < offload_log ? arm::inline_here : arm::offload;
    }
  };

  /// Starts from nothing but the knobs.
  explicit costs(const knobs& k) noexcept
    : overhead_prior_(1, std::log(k.offload_overhead_us), 0),
      least_overhead_(std::log(k.offload_overhead_us * least_share)) {
    cache_overhead();
  }

  /// Starts from what others have learned. It weighs as one observation; that of
  /// the function time is dropped once hint_trust_threshold own ones were made.
  void adopt(const prior& p, const knobs& k) noexcept {
    function_prior_ = posterior{1, p.log_function_us, 0};
    if (p.log_overhead_us && k.model == cost_model::corrected)
      overhead_prior_ = posterior{1, *p.log_overhead_us, 0};
    cache_function();
    cache_overhead();
  }

  /// Is anything known about how long the function takes?
  bool cold(const knobs& k) const noexcept {
    const bool inline_cold = function_prior_.n() + inline_.belief().n() < 1;
    return k.model == cost_model::corrected ? inline_cold
                                            : inline_cold && offload_.belief().n() < 1;
  }

  /// Adds an outcome; all times in us, positive and finite. The function time of
  /// an offload may be unknown. @returns how many costs were found to have shifted.
  int observe(arm ran, double cost_us, std::optional<double> function_us, double elapsed_us,
              const knobs& k) noexcept {
    assert(cost_us > 0 && elapsed_us > 0 && "times are positive: they were clamped");
    assert((!function_us || *function_us > 0) && "times are positive: they were clamped");
    switch (k.model) {
    case cost_model::separate_arms:
      return observe_separate(ran, cost_us, function_us, k);
    case cost_model::seed_literal:
      return observe_literal(ran, cost_us, k);
    case cost_model::corrected:
      break;
    }
    return observe_corrected(ran, cost_us, function_us, elapsed_us, k);
  }

  /// Learns of another's offload as if it were its own, unless it has enough in mind, its own or
  /// heard of, that have not faded yet (corrected).
  void hear(double log_overhead_us, const knobs& k) noexcept {
    if (k.model == cost_model::corrected && offload_.belief().n() < enough_trials)
      observe_overhead(log_overhead_us, k);
  }

  /// The overhead of its own latest offload since the last call, for others to hear; nothing: there
  /// was none (corrected).
  std::optional<double> take_latest_overhead() noexcept {
    return std::exchange(latest_overhead_, std::nullopt);
  }

  /// Adds `count` inline runs that took `average_us` (corrected).
  /// @returns how many costs were found to have shifted.
  int observe_many(double average_us, std::uint32_t count, const knobs& k) noexcept {
    assert(average_us > 0 && count > 0 && "an average is that of runs that took time");
    // The mean of log-normal costs lies above their median.
    const double spread = log_mean_cost(inline_.belief()) - inline_.belief().mean();
    const bool shift
      = inline_.observe_many(std::log(average_us) - spread, count, k.decay, k.restart_on_shift);
    drop_trusted_prior(k);
    fade(average_us, count, k);
    cache_function();
    return shift ? 1 : 0;
  }

  /// The prices under Thompson sampling. corrected consumes one random number,
  /// the other models two.
  template <random_source Random>
  prices draw(double pressure, const knobs& k, Random& random) const {
    assert(pressure >= 0 && pressure <= k.pressure_clip && "a pressure is that of pressure_index");
    const double blocking = k.k_starve * pressure;
    switch (k.model) {
    case cost_model::separate_arms: {
      const double in = draw_arm(function_belief(), random);
      const double off = draw_arm(offload_.belief(), random);
      return {in + std::log1p(blocking), off};
    }
    case cost_model::seed_literal: {
      // Both adjustments mistake a logarithm for a cost.
      const double in = draw_arm(inline_.belief(), random);
      const double off = draw_arm(offload_.belief(), random);
      return {in * (1 + blocking), off + std::log(k.offload_overhead_us)};
    }
    case cost_model::corrected:
      break;
    }
    return {log_function_ + std::log(blocking), draw_overhead(random)};
  }

  /// The prices as they are believed to be, without chance.
  prices expected(double pressure, const knobs& k) const noexcept {
    assert(pressure >= 0 && "a pressure is that of pressure_index");
    const double blocking = k.k_starve * pressure;
    if (k.model == cost_model::corrected)
      return {log_function_ + std::log(blocking), log_overhead_};
    return {function_belief().mean() + std::log1p(blocking), offload_.belief().mean()};
  }

  /// Of the inline arm: the function time, from own observations alone. This is
  /// what is passed on to others; passing on a prior, too, would make it an echo.
  const posterior& inline_belief() const noexcept {
    return inline_.belief();
  }

  /// Of the offload arm: its overhead, as seen and heard of, without the prior (corrected),
  /// or the round trip (the other models).
  const posterior& offload_belief() const noexcept {
    return offload_.belief();
  }

  /// The function time including the prior.
  posterior function_belief() const noexcept {
    return merged(function_prior_, inline_.belief());
  }

  /// The overhead including the prior (corrected).
  posterior overhead_belief() const noexcept {
    return merged(overhead_prior_, offload_.belief());
  }

private:
  int observe_corrected(arm ran, double cost_us, std::optional<double> function_us,
                        double elapsed_us, const knobs& k) noexcept {
    int shifts = 0;
    if (function_us) {
      shifts += inline_.observe(std::log(*function_us), k.decay, k.restart_on_shift);
      drop_trusted_prior(k);
    }
    if (ran == arm::inline_here) {
      fade(cost_us, 1, k);
    } else if (function_us) {
      // Clocks of two threads may disagree by more than a short overhead.
      latest_overhead_ = std::log(std::max(cost_us - elapsed_us, min_overhead_us));
      shifts += observe_overhead(*latest_overhead_, k);
    }
    cache_function();
    return shifts;
  }

  int observe_overhead(double log_us, const knobs& k) noexcept {
    const bool shift = offload_.observe(log_us, k.decay, k.restart_on_shift);
    seen_overhead_us_ = std::exp(offload_.belief().mean());
    cache_overhead();
    return shift ? 1 : 0;
  }

  // A faded belief is tried again, about once in 300 outcomes, unless another one has meanwhile
  // (hear). Where a trial costs as much as many inline runs, it must wait for more of them to be
  // worth it.
  void fade(double inline_us, std::uint32_t runs, const knobs& k) noexcept {
    const double affordable = cheap_trial * inline_us;
    const double share = affordable < seen_overhead_us_ ? affordable / seen_overhead_us_ : 1;
    faded_ += runs * (1 - k.stale_decay) * share;
    if (faded_ < fade_step)
      return;
    offload_.forget(1 - std::min(faded_, 1.0));
    faded_ = 0;
    cache_overhead();
  }

  // An offload teaches the inline arm too; otherwise a handler that was slow once
  // would be offloaded for ever.
  int observe_separate(arm ran, double cost_us, std::optional<double> function_us,
                       const knobs& k) noexcept {
    int shifts = 0;
    if (function_us) {
      shifts += inline_.observe(std::log(*function_us), k.decay, k.restart_on_shift);
      drop_trusted_prior(k);
    }
    if (ran == arm::offload)
      shifts += offload_.observe(std::log(cost_us), k.decay, k.restart_on_shift);
    return shifts;
  }

  int observe_literal(arm ran, double cost_us, const knobs& k) noexcept {
    auto& arm_ran = ran == arm::inline_here ? inline_ : offload_;
    arm_ran.observe_fading_mean(std::log(std::max(cost_us, 1.0)), k.decay);
    return 0;
  }

  // An arm without an observation is Normal(ln 100 us, 2^2).
  template <random_source Random>
  static double draw_arm(const posterior& p, Random& random) {
    const double z = standard_normal(random);
    return p.n() < 1 ? unknown_arm_log_mean + 2 * z : p.mean() + p.deviation() * z;
  }

  // A few overheads that differ by much have a posterior so wide that it promises
  // offloads for nothing, and those who can only win by them would try again and again.
  template <random_source Random>
  double draw_overhead(Random& random) const {
    const double drawn = log_overhead_ + overhead_deviation_ * standard_normal(random);
    return std::max(drawn, std::min(least_overhead_, log_overhead_));
  }

  static posterior merged(posterior a, const posterior& b) noexcept {
    a.merge(b);
    return a;
  }

  // Rounded, since n() is a little less than the number of observations.
  void drop_trusted_prior(const knobs& k) noexcept {
    if (inline_.belief().n() + 0.5 >= k.hint_trust_threshold)
      function_prior_ = {};
  }

  // When it changes rather than per decision: a square root and some divisions.
  void cache_function() noexcept {
    log_function_ = log_mean_cost(function_prior_.n() > 0 ? function_belief() : inline_.belief());
  }

  void cache_overhead() noexcept {
    const auto overhead = overhead_belief();
    log_overhead_ = log_mean_cost(overhead);
    overhead_deviation_ = overhead.deviation();
  }

  static constexpr double min_overhead_us = 0.01;

  // Of what an undisturbed offload costs, as calibrated: no hope for less, unless
  // offloads were seen to cost less. If the machine was busy then, it still is low.
  static constexpr double least_share = 0.25;

  // In inline runs. So trials cost at most about 4 % (regret.test.cpp).
  static constexpr double cheap_trial = 10;

  // With so many observations it seldom draws an offload that does not pay, and need not hear of
  // others'. A guess.
  static constexpr double enough_trials = 4;

  // Steps of 1 % rather than 0.2 %: most outcomes then need no square root for it.
  static constexpr double fade_step = 0.01;

  static constexpr double unknown_arm_log_mean = 4.605170185988092; // ln 100

  estimate inline_;
  estimate offload_;
  posterior function_prior_; // nothing, unless adopted
  posterior overhead_prior_;
  double least_overhead_;
  std::optional<double> latest_overhead_;
  double seen_overhead_us_ = 0; // what offload_ says, faded or not; 0: none was seen yet
  double faded_ = 0;            // the share that offload_ has yet to forget

  // Derived from the above (corrected).
  double log_function_ = 0;
  double log_overhead_ = 0;
  double overhead_deviation_ = 0;
};

} // namespace basal::mab
