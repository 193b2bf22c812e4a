#include <basal/mab/chooser.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace basal::mab {

namespace {

constexpr double negligible_strikes = 1e-6;

double hint_us(compute_hint hint, const knobs& k) noexcept {
  switch (hint) {
  case compute_hint::low:
    return k.hint_low_ema_us;
  case compute_hint::medium:
    return k.hint_medium_ema_us;
  case compute_hint::high:
    return k.hint_high_ema_us;
  case compute_hint::unknown:
    break;
  }
  return 0;
}

// Others wait for the first results of a new family, and nobody for the
// thousandth: after 1, 2, 4, ... 64 outcomes, then after every 64.
bool due(std::uint64_t before, std::uint64_t finished) noexcept {
  return finished / 64 != before / 64 || (finished < 64 && (finished & (finished - 1)) == 0);
}

} // namespace

chooser::chooser(family& shared) noexcept
  : family_(&shared), costs_(shared.settings()), heard_trials_(shared.latest_trial().number) {
}

chooser::~chooser() {
  if (stats_ != published_) // an actor of one message has told it already
    publish();
}

// Called until the first observation, since other choosers may learn in the meantime. Their
// observations replace the programmer's hint.
void chooser::meet(compute_hint hint) noexcept {
  const auto& k = family_->settings();
  if (!std::exchange(met_, true)) {
    expected_us_ = hint_us(hint, k);
    forced_offloads_ = hint == compute_hint::high ? k.hint_exploration_count : 0;
  }
  // loom-rs's prior is written but never read.
  if (k.model == cost_model::seed_literal)
    return;
  if (const auto p = family_->learned()) {
    costs_.adopt(*p, k);
    expected_us_ = std::exp(p->log_function_us);
    forced_offloads_ = 0;
    if (!std::exchange(adopted_, true))
      ++stats_[event::prior_adoption];
  }
}

void chooser::count(const rationale& r) noexcept {
  ++stats_[r.choice == arm::inline_here ? event::inline_decision : event::offload_decision];
  switch (r.why) {
  case reason::hint_exploration:
    assert(forced_offloads_ > 0 && "an offload is forced while some are left");
    --forced_offloads_;
    ++stats_[event::hint_offload];
    break;
  case reason::guardrail:
    ++stats_[r.guard];
    break;
  case reason::cold_start:
    ++stats_[event::cold_start];
    break;
  case reason::none:
  case reason::prices:
  case reason::threshold:
  case reason::annotation:
    break;
  }
}

void chooser::finish(arm ran, const outcome& o) noexcept {
  observe(ran, o);
  count_finished(1);
}

void chooser::count_finished(std::uint32_t outcomes) noexcept {
  auto& finished = stats_[event::finished];
  const auto before = std::exchange(finished, finished + outcomes);
  if (!due(before, finished))
    return;
  listen(); // first, or it would hear itself
  publish();
}

grant chooser::next_grant() const noexcept {
  const auto& belief = costs_.inline_belief();
  return belief.n() + 0.5 < grant::min_observations ? grant{}
                                                    : allowed(belief, last_.price.offload_log);
}

/// A draw by one that has seen few offloads, if any, is too wide a guess to hold for many.
grant chooser::next_newcomers() const noexcept {
  const auto function_time = costs_.function_belief();
  if (!family_->is_settled() || function_time.n() <= 0)
    return {};
  return allowed(function_time, std::min(last_.price.offload_log, costs_.overhead_belief().mean()));
}

grant chooser::allowed(const posterior& function_time, double offload_log) const noexcept {
  const auto& k = family_->settings();
  if (last_.choice != arm::inline_here || k.model != cost_model::corrected)
    return {};
  const double us = std::exp(log_mean_cost(function_time));
  const double expected_us = std::max(us, ema_us_); // a slow run, too, asks for caution
  const double runs
    = std::min<double>(grant::max_runs, std::floor(grant::max_total.count() / expected_us));
  if (runs < 2)
    return {};
  const grant result{static_cast<std::uint32_t>(runs), microseconds{grant::limit_factor * us}};
  if (last_.why == reason::annotation)
    return result;
  if (last_.why != reason::prices || k.chosen_by != policy::thompson
      || check_guardrails(k, {last_.workers, k.pressure_clip, expected_us, strikes_})
           != guardrail::none)
    return {};
  const double pressure = grant::margin * std::max(last_.pressure_meanwhile, k.p_low);
  const bool clear = costs_.expected(pressure, k).inline_log < offload_log;
  return clear ? result : grant{};
}

void chooser::finish_granted(std::uint32_t runs, microseconds total) noexcept {
  if (runs == 0)
    return;
  const auto& k = family_->settings();
  stats_[event::inline_decision] += runs;
  if (strikes_ > 0)
    fade_strikes(std::pow(k.strike_decay, runs));
  if (const auto average_us = clamped(total / static_cast<double>(runs))) {
    ema_us_ = *average_us + (ema_us_ - *average_us) * std::pow(1 - k.ema_alpha, runs);
    observations_ += runs;
    stats_[event::shift] += static_cast<std::uint64_t>(costs_.observe_many(*average_us, runs, k));
  }
  count_finished(runs);
}

void chooser::observe(arm ran, const outcome& o) noexcept {
  const auto& k = family_->settings();
  const auto cost_us = clamped(o.cost);
  auto function_us = clamped(o.function_time);
  // Of a round trip of unknown parts, nobody can say how much was work; taking it
  // for work would let a crowded compute queue forbid inline for ever.
  if (!function_us && (ran == arm::inline_here || k.model == cost_model::seed_literal))
    function_us = cost_us;
  learn_strike(ran, function_us);
  if (!function_us) {
    ++stats_[event::missing_function_time];
  } else {
    ema_us_ = observations_ == 0 ? *function_us : ema_us_ + k.ema_alpha * (*function_us - ema_us_);
    ++observations_;
  }
  if (!cost_us)
    return;
  const double elapsed_us = clamped(o.elapsed).value_or(function_us.value_or(*cost_us));
  const int shifts = costs_.observe(ran, *cost_us, function_us, elapsed_us, k);
  stats_[event::shift] += static_cast<std::uint64_t>(shifts);
}

// Strikes fade with every outcome. If only inline runs let them fade, one slow
// run would forbid inline, and with it its own forgiveness, for ever.
void chooser::learn_strike(arm ran, std::optional<double> function_us) noexcept {
  const auto& k = family_->settings();
  fade_strikes(k.strike_decay);
  if (ran == arm::inline_here && function_us && *function_us > k.t_strike_us) {
    strikes_ = std::min(strikes_ + 1, 2 * k.s_max);
    ++stats_[event::starvation];
  }
}

void chooser::fade_strikes(double share) noexcept {
  assert(share >= 0 && share <= 1 && "strikes fade");
  strikes_ *= share;
  if (strikes_ < negligible_strikes)
    strikes_ = 0; // rather than a denormal number, which is slow and never gets there
}

std::optional<double> chooser::clamped(std::optional<microseconds> x) noexcept {
  if (!x)
    return std::nullopt;
  const double us = x->count();
  const double low = outcome::min_cost.count();
  const double high = outcome::max_cost.count();
  if (us >= low && us <= high) [[likely]]
    return us;
  ++stats_[event::clamped_cost];
  if (std::isnan(us))
    return std::nullopt;
  return us < low ? low : high;
}

void chooser::publish() noexcept {
  // Without own observations, what we believe is what the family told us; and what we have heard
  // of offloads was said by another one.
  const bool learned = observations_ > 0;
  const auto trial = costs_.take_latest_overhead();
  const bool has_tried = trial || family_->settings().model != cost_model::corrected;
  if (trial)
    heard_trials_ = family_->tell_trial(*trial);
  family_->publish(learned ? costs_.inline_belief() : posterior{},
                   learned && has_tried ? costs_.offload_belief() : posterior{}, last_.pressure,
                   stats_ - published_);
  published_ = stats_;
}

/// Of those that seldom offload, one tries it for all.
void chooser::listen() noexcept {
  const auto known = family_->latest_trial();
  if (known.number != std::exchange(heard_trials_, known.number))
    costs_.hear(known.log_overhead_us, family_->settings());
}

} // namespace basal::mab
