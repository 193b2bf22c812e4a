#pragma once

#include <algorithm>
#include <cstdint>

namespace basal::executors {

/// The time that it costs an actor to go on at another CPU: some `lines` cache lines of itself, its
/// mailbox and its messages have to come from where they were written. Each takes 40 ns where CPUs
/// share a cache, and 130 and more on virtual machines whose CPUs happen not to, which changes
/// while a program runs: so it is measured, as the time in which something can be read that another
/// executor has written since the last look. The clock's own time, 10 to 40 ns, is a part of it.
///
/// Ticks. Its executor's thread alone.
class move_time {
public:
  /// A guess: with 10 and with 16, 50 programs of actors took 0.97 of their time without this rule
  /// on two workers; with some four, philosophers took twice as long where CPUs were far.
  static constexpr std::uint64_t lines = 16;

  /// @param most assumed until a line has come, and a bound: a line that came while its reader had
  ///             no CPU would count for much more
  explicit move_time(std::uint64_t most) noexcept
    : most_of_line_(most / lines), sum_(weight * most_of_line_) {
  }

  /// One line has come in `took`. The first ones count for their number: where little is ever
  /// stolen, few come.
  void note(std::uint64_t took) noexcept {
    noted_ = std::min(noted_ + 1, weight);
    sum_ -= sum_ / noted_;
    sum_ += std::min(took, most_of_line_) * weight / noted_;
  }

  /// The expected time, by the mean of the last few lines. At least 1: items of which nothing is
  /// known take 0 and are shorter.
  std::uint64_t ticks() const noexcept {
    return std::max<std::uint64_t>(1, lines * sum_ / weight);
  }

private:
  static constexpr std::uint64_t weight = 8;

  std::uint64_t most_of_line_;
  std::uint64_t sum_;       ///< the mean of a line, times `weight`
  std::uint64_t noted_ = 0; ///< lines, at most `weight`
};

} // namespace basal::executors
