#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace basal::posse {

/// Whether the ranges of one place in the program end sooner if they are divided, by trial: of
/// sixteen ranges of about the same size, half are done alone, the others divided, by chance.
/// Elements that write the same cache lines, as a counter or the end of a list, can take several
/// members many times as long as one. The cost of an element changes from range to range, often in
/// a period; so no fixed order would do. Each is done twice in a row, and the second time counts:
/// what elements use has moved to the cache of who does them. (A loop over 30,000 floats took 3.4
/// us alone, 4.4 divided, and 5.5 alone among divided ones.)
///
/// Where three trials in a row find ranges slower divided, or one finds them at least twice as slow
/// by more than chance explains, ranges of up to twice that size are done alone, until one says
/// otherwise, as long as they do not take much longer than those that were tried.
/// Trials are so far apart that what they cost is little, on average: a range done alone takes as
/// much longer as there are executors. Ranges of more than some milliseconds are not tried.
///
/// Any thread; nobody waits. One at a time tries, behind a lock that is only tried, too: who does
/// not get it does as is known. What is read without it is a hint, relaxed.
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
    if (now >= next) [[unlikely]]
      return try_it(n, work, now, who);
    return known(n);
  }

  /// Ticks after which a range that is done alone may be divided all the same; 0: at once.
  std::uint64_t alone_for(course c) const noexcept;

  /// A timed range of `n` elements ended at `now` after `took` ticks.
  /// @param was_divided nobody may have been idle; or it took too long alone
  void end(course c, std::size_t n, std::uint64_t took, bool was_divided, std::uint64_t now,
           const void* who) noexcept;

private:
  /// The ranges of the present trial so far.
  struct progress {
    std::size_t elements = 0;    ///< of its first range
    course again{};              ///< of the next range, which counts; as_usual: it does not
    std::uint32_t run = 0;       ///< ranges
    std::uint32_t divided = 0;   ///< of them
    std::uint32_t undivided = 0; ///< that were to be divided, and were not
    std::uint32_t missed = 0;    ///< of another size, in a row
    std::uint64_t ticks = 0;
    std::uint64_t longest = 0; ///< ticks, of one of them
    double divided_sum = 0;    ///< of the logarithms of times for an element
    double alone_sum = 0;
    double squares = 0; ///< of all of them
  };

  course known(std::size_t n) const noexcept {
    return n <= alone_up_to_.load(std::memory_order_relaxed) ? course::alone : course::as_usual;
  }

  bool is_left(std::uint64_t now) const noexcept;
  course try_it(std::size_t n, std::uint64_t work, std::uint64_t now, const void* who) noexcept;
  bool takes_part(std::size_t n, std::uint64_t now, const void* who) noexcept;
  void begin_trial(std::size_t n, std::uint64_t now) noexcept;
  course next_course(std::uint64_t now) const noexcept;
  void wait_longer() noexcept;
  void end_trial(std::uint64_t next_at) noexcept;
  void conclude(std::uint64_t now) noexcept;

  /// Ticks, when the next trial is to come, or the last range of this one has begun; 0: no range
  /// was worth a theft yet.
  std::atomic<std::uint64_t> next_at_{0};
  std::atomic<std::size_t> alone_up_to_{0}; ///< elements
  std::atomic<std::uint64_t> alone_for_{0}; ///< ticks
  std::atomic<const void*> tries_{nullptr}; ///< null: nobody

  std::mutex mutex_; ///< guards what follows, and writes of what precedes
  progress trial_;
  std::uint32_t delay_ = 0;    ///< of the first trial, in ranges: see first_delay
  std::uint32_t patience_ = 0; ///< see least_patience
  std::uint32_t to_pass_ = 16; ///< ranges before the trial's first one
  std::uint32_t agreeing_ = 0; ///< trials that have found that alone is better
};

} // namespace basal::posse
