#pragma once

#include <algorithm>
#include <cstdint>

namespace basal::executors {

/// The time that it costs an actor to go on at another CPU: some `lines` cache lines of itself, its
/// mailbox and its messages have to come from where they were written. Each takes 40 ns where CPUs
/// share a cache, and 130 and more on virtual machines whose CPUs happen not to, which changes
/// while a program runs: so it is measured, as the time in which something can be read that another
/// executor has written since the last look.
///
/// Ticks. Its executor's thread alone.
class move_time {
public:
  /// A guess. With 10, a sleeping barber with 8000 customers took sixty times as long in two of
  /// eight runs; with 20, fewer of the programs that gain do so.
  static constexpr std::uint64_t lines = 16;

  /// @param most the time until something was measured, and at most: whoever has to wait for its
  ///             CPU meanwhile measures that
  explicit move_time(std::uint64_t most) noexcept : most_(most / lines), line_(most_) {
  }

  /// One line has come in `took`.
  void note(std::uint64_t took) noexcept {
    line_ = (line_ * (weight - 1) + std::min(took, most_)) / weight;
  }

  /// The expected time, by the mean of the last few lines; at least 1.
  std::uint64_t ticks() const noexcept {
    return std::max<std::uint64_t>(1, lines * line_);
  }

private:
  static constexpr std::uint64_t weight = 8;

  std::uint64_t most_; ///< of one line
  std::uint64_t line_; ///< the mean
};

} // namespace basal::executors
