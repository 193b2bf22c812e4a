#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include <basal/executors/detail/turn_costs.hpp>

namespace basal::executors {

/// Whether the executors of a pool get more done beside each other than one of them alone. Actors
/// that send each other short messages may not: each message, the mailbox it comes to and the
/// actor's own state are cache lines that have to come from where they were written, and where
/// CPUs are far from each other, as on many virtual machines, that takes several times as long as
/// to handle the message. How far that is, and who sends how much to whom, is known at run time
/// alone, so it is measured: for a time work goes wherever somebody takes it, then for a moment it
/// stays where it is (a trial), and what messages of each kind have taken in one and in the other
/// tells how much more is done by several (turn_costs). If that is less than one would have done,
/// twice in a row, each with a trial of its own, work stays until it is tried again: thieves leave
/// it to its owners, and nobody is woken for what they send to.
///
/// Both sides are tried more seldom the longer they hold. While several get more done, a trial
/// takes 0.1 ms after 2, 6, 18 ms, and each 320 ms in the end. While they do not, work goes around
/// for a millisecond after 16, 32 and then each 64 ms. So a program that has become another one is
/// noticed within 64 ms, or a tick later (1 ms or one item), or where most of the time goes to
/// messages that take long.
///
/// Executors call go_on() after turns that were timed, and while work stays at the ends of ticks.
/// One at a time gets through. Any thread may ask work_stays(): in seq_cst, as an executor that
/// sleeps since work stays is woken when it does no more (executor_pool::say_work_goes_around), or
/// sees that after it has entered the idle set. All else is relaxed: a hint whose delay costs time,
/// never correctness.
class speedup {
public:
  /// In microseconds.
  /// @{
  static constexpr std::uint64_t first_spread = 2'000;
  static constexpr std::uint64_t longest_spread = 320'000;
  static constexpr std::uint64_t spread_between_stays = 1'000;
  static constexpr std::uint64_t spread_extension = 500;
  static constexpr std::uint64_t trial = 100;
  static constexpr std::uint64_t longest_trial = 300;
  static constexpr std::uint64_t first_stay = 16'000;
  static constexpr std::uint64_t longest_stay = 64'000;
  /// @}

  /// Samples that tell something.
  static constexpr std::uint64_t enough = 32;

  /// Less is a reason to stay. A guess: one CPU less is worth a twentieth of the time.
  static constexpr double worth_it = 0.95;

  /// So many times in a row.
  static constexpr int times = 2;

  explicit speedup(std::uint64_t ticks_per_us) noexcept : us_(ticks_per_us) {
  }

  bool work_stays() const noexcept {
    return stays_.load(std::memory_order_seq_cst);
  }

  /// Ticks from one sample to the next one at the same executor.
  std::uint64_t pause() const noexcept {
    return pause_.load(std::memory_order_relaxed) * us_;
  }

  /// Of samples that are taken now, for turn_costs.
  /// @{
  std::uint32_t period_alone() const noexcept {
    return period_alone_.load(std::memory_order_relaxed);
  }
  std::uint32_t period_beside() const noexcept {
    return period_beside_.load(std::memory_order_relaxed);
  }
  /// @}

  /// To be called now and then, at `present` (ticks).
  /// @param samples_alone so many in period_alone(), called only where it matters
  /// @param evidence turn_costs::evidence of these periods, called only where it matters
  /// @returns whether work does not stay any more, as it did until now
  template <class Samples, class Evidence>
  bool go_on(std::uint64_t present, Samples samples_alone, Evidence evidence) noexcept {
    if (present < until_.load(std::memory_order_relaxed)
        || is_held_.exchange(true, std::memory_order_acquire))
      return false;
    const bool stayed = work_stays();
    if (present >= until_.load(std::memory_order_relaxed))
      next(present, samples_alone, evidence);
    if (is_given_up_.load(std::memory_order_relaxed)) // meanwhile
      stays_.store(false, std::memory_order_seq_cst);
    is_held_.store(false, std::memory_order_release);
    return stayed && !work_stays();
  }

  /// While work stays: messages have taken `ticks`, and each of them long or not. Once two were
  /// long, and most of the time of the last eight or so is theirs, work goes around again. The sums
  /// may lose what two executors note at the same time.
  /// @returns whether it does from now on
  bool note_messages(bool are_long, std::uint64_t ticks) noexcept {
    if (!work_stays())
      return false;
    const auto fade = [](auto& sum, std::uint64_t more) {
      const auto before = sum.load(std::memory_order_relaxed);
      const auto result = before - before / 8 + more;
      sum.store(result, std::memory_order_relaxed);
      return result;
    };
    const auto all = fade(ticks_, ticks);
    const auto of_long = fade(ticks_of_long_, are_long ? ticks : 0);
    return are_long && num_long_.fetch_add(1, std::memory_order_relaxed) + 1 >= 2
           && 2 * of_long > all && give_up();
  }

  /// Work goes around again, whoever has found that it should: somebody keeps it waiting.
  /// @returns whether it had stayed
  bool give_up() noexcept {
    is_given_up_.store(true, std::memory_order_relaxed);
    until_.store(0, std::memory_order_relaxed);
    return stays_.exchange(false, std::memory_order_seq_cst);
  }

private:
  template <class Samples, class Evidence>
  void next(std::uint64_t present, Samples& samples_alone, Evidence& evidence) noexcept {
    if (is_given_up_.exchange(false, std::memory_order_relaxed) || spread_ == 0) {
      is_trial_ = true;
      in_row_ = 0;
      stay_ = 0;
      begin_spread(present, spread_ = first_spread);
    } else if (work_stays()) {
      if (is_trial_ && samples_alone() < enough && present < stays_since_ + longest_trial * us_)
        wait(present, trial / 4);
      else
        begin_spread(present, is_trial_ && in_row_ == 0 ? spread_ : spread_between_stays);
    } else {
      judge(present, evidence());
    }
  }

  void judge(std::uint64_t present, const turn_costs::evidence& seen) noexcept {
    if (seen.samples < enough) {
      pause_.store(seen.samples == 0 ? longest_pause : shortest_pause, std::memory_order_relaxed);
      wait(present, spread_extension);
      return;
    }
    if (2 * seen.short_messages <= seen.took) { // there is nothing to be learned by a trial
      in_row_ = 0;
      stay_ = 0;
      begin_spread(present, spread_ = std::min(3 * spread_, longest_spread));
      return;
    }
    const bool is_known = 2 * seen.known > seen.short_messages;
    const bool is_too_slow = is_known && seen.speedup() < worth_it;
    in_row_ = is_too_slow ? in_row_ + 1 : 0;
    is_trial_ = in_row_ < times;
    if (!is_trial_) {
      spread_ = first_spread;
      stay_ = std::clamp(2 * stay_, first_stay, longest_stay);
      begin_stay(present, stay_, pause_while_it_stays);
      return;
    }
    if (!is_too_slow) {
      // Before the first trial nothing is known. Later on there are too many kinds, or it takes
      // more trials.
      const bool is_first = !std::exchange(has_tried_, true);
      if (is_known || !is_first)
        spread_ = std::min(is_known ? 3 * spread_ : spread_ + first_spread, longest_spread);
      stay_ = 0;
    }
    period_alone_.fetch_add(1, std::memory_order_relaxed);
    begin_stay(present, trial, pause_in_trial);
  }

  void begin_stay(std::uint64_t present, std::uint64_t us, std::uint64_t pause) noexcept {
    stays_since_ = present;
    num_long_.store(0, std::memory_order_relaxed);
    ticks_.store(0, std::memory_order_relaxed);
    ticks_of_long_.store(0, std::memory_order_relaxed);
    pause_.store(pause, std::memory_order_relaxed);
    wait(present, us);
    stays_.store(true, std::memory_order_seq_cst);
  }

  void begin_spread(std::uint64_t present, std::uint64_t us) noexcept {
    stays_.store(false, std::memory_order_seq_cst);
    period_beside_.fetch_add(1, std::memory_order_relaxed);
    // Some three times as many samples as are needed, if two work all the time.
    pause_.store(std::clamp(us / 128, shortest_pause, longest_pause), std::memory_order_relaxed);
    wait(present, us);
  }

  void wait(std::uint64_t present, std::uint64_t us) noexcept {
    until_.store(present + us * us_, std::memory_order_relaxed);
  }

  // A sample takes some 0.3 us.
  static constexpr std::uint64_t pause_in_trial = 3;
  static constexpr std::uint64_t pause_while_it_stays = 20;
  static constexpr std::uint64_t shortest_pause = 10;
  static constexpr std::uint64_t longest_pause = 50;

  const std::uint64_t us_; ///< ticks

  std::atomic<bool> stays_{false};
  std::atomic<bool> is_given_up_{false};
  // Since work stays.
  std::atomic<int> num_long_{0};
  std::atomic<std::uint64_t> ticks_{0};
  std::atomic<std::uint64_t> ticks_of_long_{0};

  std::atomic<std::uint64_t> until_{0}; ///< ticks
  std::atomic<std::uint64_t> pause_{shortest_pause};
  std::atomic<std::uint32_t> period_alone_{1};
  std::atomic<std::uint32_t> period_beside_{1};

  // With is_held_, which is taken in acquire and given back in release.
  std::atomic<bool> is_held_{false};
  bool is_trial_ = true; ///< work stays for a trial, if it does
  bool has_tried_ = false;
  int in_row_ = 0;                ///< periods in which several were too slow
  std::uint64_t spread_ = 0;      ///< us
  std::uint64_t stay_ = 0;        ///< us
  std::uint64_t stays_since_ = 0; ///< ticks
};

} // namespace basal::executors
