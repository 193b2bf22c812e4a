/// The peer of the choosers: one scheduler for all functions, as loom-rs has it and as
/// one would write it first. A mutex, a map of statistics by key, a map of pending
/// decisions by id; the same formulas as ours.
#pragma once

#include <basal/mab/detail/costs.hpp>
#include <basal/mab/guardrails.hpp>
#include <basal/mab/pressure.hpp>
#include <basal/mab/random.hpp>

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace basal::mab::bench {

class mutex_map_chooser {
public:
  explicit mutex_map_chooser(const knobs& k) : knobs_(k) {
  }

  std::pair<std::uint64_t, arm> choose(std::uint64_t key, const load& now) {
    const std::lock_guard guard{mutex_};
    auto& known = by_key_.try_emplace(key, knobs_).first->second;
    const double pressure = pressure_index(now, knobs_);
    arm choice = arm::offload;
    if (check_guardrails(knobs_, {now.workers, pressure, known.ema_us, known.strikes})
        == guardrail::none)
      choice = known.believed.cold(knobs_) ? arm::inline_here
                                           : known.believed.draw(pressure, knobs_, random_).lower();
    const auto id = next_id_++;
    pending_.emplace(id, pending{key, choice});
    return {id, choice};
  }

  void finish(std::uint64_t id, double cost_us, double function_us) {
    const std::lock_guard guard{mutex_};
    const auto open = pending_.find(id);
    if (open == pending_.end())
      return;
    auto& known = by_key_.at(open->second.key);
    known.ema_us = known.ema_us == 0
                     ? function_us
                     : known.ema_us + knobs_.ema_alpha * (function_us - known.ema_us);
    known.strikes *= knobs_.strike_decay;
    if (open->second.choice == arm::inline_here && function_us > knobs_.t_strike_us)
      known.strikes += 1;
    known.believed.observe(open->second.choice, cost_us, function_us, function_us, knobs_);
    pending_.erase(open);
  }

private:
  struct statistics {
    explicit statistics(const knobs& k) : believed(k) {
    }

    costs believed;
    double ema_us = 0;
    double strikes = 0;
  };

  struct pending {
    std::uint64_t key;
    arm choice;
  };

  const knobs knobs_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, statistics> by_key_;
  std::unordered_map<std::uint64_t, pending> pending_;
  std::uint64_t next_id_ = 0;
  splitmix64 random_{1};
};

} // namespace basal::mab::bench
