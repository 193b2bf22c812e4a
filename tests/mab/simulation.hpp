/// Handlers that cost what a random source says, for tests and for bench/evaluation:
/// millions of decisions per second, the same ones for the same seed.
#pragma once

#include <basal/mab/chooser.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace basal::mab::simulation {

/// Costs of a handler and of an offload, in us: log-normal around these medians.
struct world {
  double function_us = 20;
  double overhead_us = 12;
  double function_sigma = 0; ///< of the logarithm
  double overhead_sigma = 0;
};

/// A load of `workers` with exactly this pressure under default knobs: as many waiting actors as
/// fit into it, the rest of it new ones. With 14 workers nothing is left for those if the pressure
/// is a multiple of 0.05.
inline load load_of(double pressure, std::uint32_t workers = 14) {
  const knobs k;
  const auto inflight = std::floor(pressure * workers / k.w_inflight + 1e-9);
  const auto rest = std::max(0.0, pressure - k.w_inflight * inflight / workers);
  return {workers, static_cast<std::uint32_t>(inflight), rest * workers * 1000 / k.w_spawn};
}

/// Cost of the choices, beside the costs of the two static policies.
struct tally {
  std::size_t inline_runs = 0;
  std::size_t offload_runs = 0;
  double cost_us = 0;
  double all_inline_us = 0;
  double all_offload_us = 0;

  double inline_share() const {
    return static_cast<double>(inline_runs) / static_cast<double>(inline_runs + offload_runs);
  }

  /// 0.05: five percent more than the better static policy.
  double regret() const {
    return cost_us / std::min(all_inline_us, all_offload_us) - 1;
  }
};

/// Whether an actor asks its chooser for each message.
enum class asks { always, unless_granted };

/// One actor's chooser and its handler.
class actor {
public:
  explicit actor(const knobs& k = {}, std::uint64_t seed = 1, asks when = asks::always)
    : actor(std::make_shared<family>("simulated", k), seed, when) {
  }

  actor(std::shared_ptr<family> shared, std::uint64_t seed, asks when = asks::always)
    : family_(std::move(shared)),
      chooser_(*family_),
      when_(when),
      draws_(seed),
      noise_(seed ^ 0xabcdef) {
  }

  chooser& decider() {
    return chooser_;
  }

  const chooser& decider() const {
    return chooser_;
  }

  /// One message. Offloads report the round trip and the function time.
  arm step(const world& w, const load& now, tally& into,
           compute_hint hint = compute_hint::unknown) {
    // Both are drawn whichever arm runs, so that equal seeds mean equal worlds.
    const double fn = w.function_us * spread(w.function_sigma);
    const double overhead = w.overhead_us * spread(w.overhead_sigma);
    const auto& k = family_->settings();
    const double blocking = 1 + k.k_starve * pressure_index(now, k);
    into.all_inline_us += fn * blocking;
    into.all_offload_us += fn + overhead;
    if (grant_.runs > 0) {
      ++into.inline_runs;
      into.cost_us += fn * blocking;
      run_granted(microseconds{fn});
      return arm::inline_here;
    }
    auto d = chooser_.choose(now, draws_, hint);
    if (d.choice() == arm::inline_here) {
      ++into.inline_runs;
      into.cost_us += fn * blocking;
      d.finish({.cost = microseconds{fn}, .function_time = microseconds{fn}});
    } else {
      ++into.offload_runs;
      into.cost_us += fn + overhead;
      d.finish({.cost = microseconds{fn + overhead}, .function_time = microseconds{fn}});
    }
    if (when_ == asks::unless_granted)
      grant_ = chooser_.next_grant();
    return d.choice();
  }

  /// The rest of the grant.
  const grant& granted() const {
    return grant_;
  }

  tally run(const world& w, const load& now, std::size_t messages) {
    tally result;
    for (std::size_t i = 0; i < messages; ++i)
      step(w, now, result);
    return result;
  }

private:
  void run_granted(microseconds fn) {
    --grant_.runs;
    const bool reached = fn >= grant_.limit;
    if (!reached) {
      ++unlearned_runs_;
      unlearned_ += fn;
    }
    if (reached || grant_.runs == 0) {
      chooser_.finish_granted(std::exchange(unlearned_runs_, 0),
                              std::exchange(unlearned_, microseconds{0}));
    }
    if (reached) {
      chooser_.granted().finish({.cost = fn, .function_time = fn});
      grant_ = {};
    }
  }

  double spread(double sigma) {
    return sigma == 0 ? 1 : std::exp(sigma * standard_normal(noise_));
  }

  std::shared_ptr<family> family_;
  chooser chooser_;
  asks when_;
  grant grant_;
  std::uint32_t unlearned_runs_ = 0;
  microseconds unlearned_{0};
  splitmix64 draws_;
  splitmix64 noise_;
};

/// The regrets of a chooser in worlds that change at random, again and again: 1 to 400 us,
/// pressure 0.35 to 10, 400 to 3,400 messages each. Of each world the first 200 messages
/// are not counted, nor are the first two worlds.
inline std::vector<double> wander(const knobs& k, std::uint64_t seed, bool overhead_changes,
                                  double sigma, asks when = asks::always) {
  constexpr double function_us[] = {1, 5, 10, 20, 50, 70, 100, 150, 200, 400};
  constexpr double pressures[] = {0.35, 0.7, 1.5, 2.9, 5, 10};
  constexpr double overhead_us[] = {12, 4, 30};
  splitmix64 random{seed * 977};
  actor a{k, seed, when};
  std::vector<double> result;
  for (int i = 0; i < 12; ++i) {
    const world w{function_us[random() % 10], overhead_us[overhead_changes ? random() % 3 : 0],
                  sigma, sigma};
    const auto now = load_of(pressures[random() % 6]);
    a.run(w, now, 200);
    const auto t = a.run(w, now, 200 + random() % 3000);
    if (i >= 2)
      result.push_back(t.regret());
  }
  return result;
}

} // namespace basal::mab::simulation
