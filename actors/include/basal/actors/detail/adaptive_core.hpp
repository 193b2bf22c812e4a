#pragma once

#include <basal/actors/adaptive_actor_config.hpp>
#include <basal/actors/detail/chooser_host.hpp>
#include <basal/actors/detail/hop.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/stopwatch.hpp>
#include <basal/mab/chooser.hpp>
#include <basal/mab/explain.hpp>

#include <caf/fwd.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace basal::actors::detail {

/// How the next run is to be measured: by the CPU's clock where nothing is known, or where that
/// clock's cost does not show.
executors::stopwatch::precision precision_for(const mab::chooser& decider) noexcept;

/// A chooser and what it decides about: one handler of one actor, or one stream. Belongs to its
/// actor, whose handlers never overlap. An actor may live for one message, and its chooser is made
/// when it is needed.
class adaptive_core {
public:
  /// @throws std::logic_error if the system does not run on basal
  /// @throws std::invalid_argument naming a knob out of its range
  adaptive_core(caf::actor_system& system, mab::function_key key, const family_name& default_name,
                const adaptive_actor_config& config);

  /// Calls `body` here or on a compute executor, whichever the chooser says, and tells it what
  /// became of it. Only on a message executor; elsewhere nobody waits for the thread, and it is
  /// called right here.
  template <class Body>
  std::invoke_result_t<Body&> run(mab::compute_hint hint, Body body) {
    auto* lane = host_->current_lane();
    if (lane == nullptr)
      return body();
    if (grant_.runs > 0) {
      const granted_run now{*this, *lane};
      return body();
    }
    if (std::exchange(is_new_, false) && family_.newcomers_on(lane->here.index()).begin()) {
      const first_run now{*this, *lane};
      return body();
    }
    turn now{*this, *lane, std::max(hint, hint_)};
    if (now.choice() == mab::arm::inline_here) {
      const inside_of watch{now, lane->here, now.start()};
      return body();
    }
    auto measured = [&]() -> std::invoke_result_t<Body&> {
      const inside_of watch{now, *executors::executor::current(), executors::tick_clock::now()};
      return body();
    };
    return hop(host_->compute(), measured);
  }

  ~adaptive_core() {
    settle();
  }

  adaptive_core(const adaptive_core&) = delete;
  adaptive_core& operator=(const adaptive_core&) = delete;

  std::string explain();

  /// Makes it, if the actor's first message did not need one (newcomers).
  const mab::chooser& chooser() noexcept {
    settle();
    return own_chooser();
  }

private:
  /// From the decision to its outcome, which it reports when it goes, in the case of an exception
  /// like in any other.
  class turn {
  public:
    turn(adaptive_core& core, chooser_host::lane& lane, mab::compute_hint hint) noexcept;
    ~turn();

    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    mab::arm choice() const noexcept {
      return decision_.choice();
    }

    /// When the chooser was asked, by the tick_clock.
    std::uint64_t start() const noexcept {
      return start_;
    }

  private:
    friend class adaptive_core;

    adaptive_core& core_;
    chooser_host::lane& lane_;
    const std::uint64_t start_; // tick_clock
    mab::decision decision_;
    const executors::stopwatch::precision precision_;
    std::optional<executors::stopwatch::reading> inside_; // nothing: the handler was not called
  };

  /// Measures the handler where it runs. An inline run begins when the chooser is asked: that keeps
  /// the executor from others as well, and another look at the clock would cost as much.
  class inside_of {
  public:
    inside_of(turn& t, executors::executor& here, std::uint64_t start) noexcept
      : turn_(t), watch_(here.running(), t.precision_, start) {
    }

    ~inside_of() {
      turn_.inside_ = watch_.stop();
    }

    inside_of(const inside_of&) = delete;
    inside_of& operator=(const inside_of&) = delete;

  private:
    turn& turn_;
    executors::stopwatch watch_;
  };

  /// A run that the chooser has granted with an earlier one: it is measured, but nothing decided,
  /// and learned together with others.
  class granted_run {
  public:
    granted_run(adaptive_core& core, chooser_host::lane& lane) noexcept
      : core_(core), watch_(lane.here.running(), executors::stopwatch::precision::ticks) {
      BASAL_ASSERT(core.grant_.runs > 0, "a run without a decision was granted");
      core.host_->count_arrival(lane);
      --core.grant_.runs;
    }

    ~granted_run() {
      const auto inside = watch_.stop();
      if (inside.busy < core_.limit_) [[likely]]
        core_.learn_later(inside.busy);
      else
        core_.learn_alone(inside);
    }

    granted_run(const granted_run&) = delete;
    granted_run& operator=(const granted_run&) = delete;

  private:
    adaptive_core& core_;
    executors::stopwatch watch_;
  };

  /// The first run of a new actor, by what the newest one before it was allowed.
  class first_run {
  public:
    first_run(adaptive_core& core, chooser_host::lane& lane) noexcept
      : core_(core),
        others_(core.family_.newcomers_on(lane.here.index())),
        watch_(lane.here.running(), executors::stopwatch::precision::ticks) {
      core.host_->count_arrival(lane);
    }

    ~first_run() {
      const auto inside = watch_.stop();
      if (!others_.ended(inside.busy, core_.family_)) [[unlikely]]
        core_.learn_alone(inside);
    }

    first_run(const first_run&) = delete;
    first_run& operator=(const first_run&) = delete;

  private:
    adaptive_core& core_;
    mab::newcomers& others_;
    executors::stopwatch watch_;
  };

  mab::chooser& own_chooser() noexcept {
    return chooser_ ? *chooser_ : chooser_.emplace(family_);
  }

  /// After an inline run that was decided.
  void take_grant() noexcept;

  void learn_later(std::chrono::nanoseconds busy) noexcept {
    ++unlearned_runs_;
    unlearned_ += busy;
    if (grant_.runs == 0)
      settle();
  }

  /// Of a granted run that reached the limit.
  void learn_alone(const executors::stopwatch::reading& inside) noexcept;

  /// Tells the chooser of the runs that it has not heard of yet.
  void settle() noexcept;

  const std::shared_ptr<chooser_host> host_; // keeps the family
  const mab::compute_hint hint_;
  mab::family& family_;
  bool is_new_ = true;                  ///< no message yet
  std::optional<mab::chooser> chooser_; ///< from the first run on that needs it

  mab::grant grant_; ///< runs that are still granted
  std::chrono::nanoseconds limit_{0};
  std::uint32_t unlearned_runs_ = 0;
  std::chrono::nanoseconds unlearned_{0};
};

} // namespace basal::actors::detail
