#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace basal::posse {

/// Whether the ranges of one place in the program end sooner if they are divided, by trial: four
/// ranges of about the same size, of which the first and the last are divided, the others are done
/// alone. Elements that write the same cache lines, as a counter or the end of a list, can take
/// several members many times as long as one. Ranges become longer and shorter, and so do their
/// elements: in this order, what grows or falls steadily counts for neither.
///
/// Where three trials in a row say so, ranges of up to twice that size are done alone, until one
/// says otherwise. Trials are so far apart that what they cost is little: a range done alone takes
/// as much longer as there are executors.
///
/// Any thread. One at a time tries; the others do as is known. All accesses are relaxed: hints.
class alignas(64) division_trial {
public:
  enum class course : std::uint8_t {
    as_usual, ///< it may be divided
    alone,
    timed_divided, ///< end() is to be told of it
    timed_alone,   ///< the same
  };

  static constexpr bool is_alone(course c) noexcept {
    return c == course::alone || c == course::timed_alone;
  }

  static constexpr bool is_timed(course c) noexcept {
    return c == course::timed_alone || c == course::timed_divided;
  }

  /// How to do a range that would be divided.
  /// @param n    elements
  /// @param work ticks that it is expected to take one member
  /// @param now  ticks
  /// @param who  tells members apart that may do ranges of this place at the same time
  course begin(std::size_t n, std::uint64_t work, std::uint64_t now, const void* who) noexcept {
    const auto next = next_at_.load(std::memory_order_relaxed);
    if (next == 0) [[unlikely]]
      next_at_.store(now + least_patience * work, std::memory_order_relaxed);
    else if (now >= next && takes_part(n, now, who)) [[unlikely]]
      return order[run_.load(std::memory_order_relaxed) % order.size()];
    return n <= alone_up_to_.load(std::memory_order_relaxed) ? course::alone : course::as_usual;
  }

  /// A timed range of `n` elements ended at `now` after `took` ticks.
  /// @param was_divided if it was to be: nobody may have been idle
  void end(course c, std::size_t n, std::uint64_t took, bool was_divided, std::uint64_t now,
           const void* who) noexcept {
    if (tries_.load(std::memory_order_relaxed) != who)
      return; // somebody else has begun anew
    const auto run = run_.load(std::memory_order_relaxed);
    const auto before = run == 0 ? 1.0 : ratio_.load(std::memory_order_relaxed);
    const auto all = took + (run == 0 ? 0 : ticks_.load(std::memory_order_relaxed));
    if (c == course::timed_divided && !was_divided) {
      end_trial(now + least_patience * all);
      return;
    }
    const auto each
      = static_cast<double>(std::max<std::uint64_t>(1, took)) / static_cast<double>(n);
    const auto ratio = c == course::timed_divided ? before * each : before / each;
    ratio_.store(ratio, std::memory_order_relaxed);
    ticks_.store(all, std::memory_order_relaxed);
    run_.store(run + 1, std::memory_order_relaxed);
    if (run + 1 == order.size())
      conclude(ratio >= 1, n, all / 2, now);
  }

private:
  static constexpr std::array order{course::timed_divided, course::timed_alone, course::timed_alone,
                                    course::timed_divided};

  /// Trials in a row that must agree.
  static constexpr std::uint32_t enough = 3;

  /// From one trial to the next passes so many times what a range takes alone: at first, and after
  /// many that have told nothing new.
  static constexpr std::uint32_t least_patience = 64;
  static constexpr std::uint32_t most_patience = 1024;

  /// A trial that is not at its end after so long, in ticks, is somebody else's to begin anew.
  static constexpr std::uint64_t too_long = std::uint64_t{1} << 28;

  bool takes_part(std::size_t n, std::uint64_t now, const void* who) noexcept {
    const auto* tries = tries_.load(std::memory_order_relaxed);
    if (tries != who) {
      if (tries != nullptr && now < next_at_.load(std::memory_order_relaxed) + too_long)
        return false;
      if (!tries_.compare_exchange_strong(tries, who, std::memory_order_relaxed))
        return false;
      run_.store(0, std::memory_order_relaxed);
      elements_.store(n, std::memory_order_relaxed);
      return true;
    }
    const auto first = elements_.load(std::memory_order_relaxed);
    return n >= first / 2 && n / 2 <= first;
  }

  void end_trial(std::uint64_t next_at) noexcept {
    next_at_.store(next_at, std::memory_order_relaxed);
    tries_.store(nullptr, std::memory_order_relaxed);
  }

  /// @param alone ticks that such a range takes alone, or less
  void conclude(bool is_better_alone, std::size_t n, std::uint64_t alone,
                std::uint64_t now) noexcept {
    const auto agreeing = is_better_alone ? agreeing_.load(std::memory_order_relaxed) + 1 : 0;
    agreeing_.store(std::min(agreeing, enough), std::memory_order_relaxed);
    const bool decides = !is_better_alone || agreeing >= enough;
    const auto up_to = is_better_alone ? 2 * n : 0;
    auto patience = patience_.load(std::memory_order_relaxed);
    if (decides) {
      const bool is_news = (alone_up_to_.load(std::memory_order_relaxed) != 0) != is_better_alone;
      patience = is_news ? least_patience : std::min(2 * patience, most_patience);
      patience_.store(patience, std::memory_order_relaxed);
      alone_up_to_.store(up_to, std::memory_order_relaxed);
    }
    end_trial(decides ? now + patience * alone : now);
  }

  std::atomic<std::uint64_t> next_at_{0};   ///< ticks; 0: no range was worth a theft yet
  std::atomic<std::size_t> alone_up_to_{0}; ///< elements
  std::atomic<const void*> tries_{nullptr}; ///< null: nobody
  std::atomic<std::uint32_t> run_{0};       ///< of the trial
  std::atomic<std::uint32_t> agreeing_{0};  ///< trials that have found that alone is better
  std::atomic<std::uint32_t> patience_{least_patience};
  std::atomic<std::size_t> elements_{0}; ///< of the trial's first range
  std::atomic<std::uint64_t> ticks_{0};  ///< of its ranges so far
  std::atomic<double> ratio_{1};         ///< times of elements, divided over alone
};

} // namespace basal::posse
