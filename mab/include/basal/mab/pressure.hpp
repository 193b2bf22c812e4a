#pragma once

#include <algorithm>
#include <cstdint>

#include <basal/mab/knobs.hpp>

namespace basal::mab {

/// Work of the message executors at the moment of a decision.
struct load {
  std::uint32_t workers = 1;   ///< message executors
  std::uint32_t inflight = 0;  ///< actors that are runnable or running on them
  double spawn_rate_per_s = 0; ///< arrivals per second; see rate_meter
};

/// A higher rate of arrivals counts as this one: more than any machine can count.
inline constexpr double most_rate_per_s = 1e15;

/// How much others suffer when a message executor is blocked: 0 (nobody waits)
/// to knobs.pressure_clip. Dimensionless.
///
///   w_inflight * inflight/workers + w_spawn * spawn_rate/(1000 * workers)
///
/// Any thread, never fails: no workers or a rate that is no number count as 0.
inline double pressure_index(const load& now, const knobs& k) noexcept {
  if (now.workers == 0)
    return 0;
  // Finite, since infinity times a weight of 0 is no number; and NaN is not > 0.
  const double rate
    = now.spawn_rate_per_s > 0 ? std::min(now.spawn_rate_per_s, most_rate_per_s) : 0;
  const double sum = k.w_inflight * now.inflight + k.w_spawn * rate * 1e-3;
  return std::min(sum * (1.0 / now.workers), k.pressure_clip);
}

/// The pressure that counts when an inline run of about `function_us` is priced.
///
/// The index weighs arrivals by how many come within a millisecond. Of those, a
/// shorter run keeps waiting only the ones that come while it lasts, so their
/// share shrinks with it. Guardrails and bands use the index as it is.
inline double pressure_during(const load& now, double function_us, const knobs& k) {
  auto meanwhile = now;
  meanwhile.spawn_rate_per_s *= std::clamp(function_us * 1e-3, 0.0, 1.0);
  return pressure_index(meanwhile, k);
}

enum class pressure_band {
  low,    ///< below p_low: inline is safe, even on a single executor
  normal, ///< the bandit decides
  high,   ///< above p_high: guardrail GR2 forbids more
};

constexpr const char* to_string(pressure_band x) noexcept {
  switch (x) {
  case pressure_band::low:
    return "low";
  case pressure_band::normal:
    return "normal";
  case pressure_band::high:
    return "high";
  }
  return "?"; // no enumerator
}

constexpr pressure_band band_of(double pressure, const knobs& k) noexcept {
  if (pressure < k.p_low)
    return pressure_band::low;
  return pressure > k.p_high ? pressure_band::high : pressure_band::normal;
}

} // namespace basal::mab
