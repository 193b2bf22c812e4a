#pragma once

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/executor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace basal::actors {

/// How many messages an actor may handle before the others have their turn: as many as fit into a
/// quantum at the cost of those that it has handled so far, beginning with two. To CAF, which knows
/// no time, each batch is a limit of its own.
///
/// An actor that was woken by what ran right before may take longer, until it has caught up with
/// what it was sent in that time. At the end of its turn it would queue up behind all the others,
/// which go on sending: its mailbox would grow, and be out of the cache when its turn comes.
///
/// It leaves the rest for later where it keeps others waiting that could run on another executor
/// (executor::turn_keeps_others_waiting).
///
/// The time comes for free: CAF's actors ask the clock after every few messages, and clock::now
/// tells the executor.
class turn {
public:
  turn(executors::executor& self, std::size_t most) noexcept
    : self_(self),
      begin_(self.last_look()),
      length_(std::max(self.quantum_ticks(), catch_up * self.feeder_ticks())),
      left_(std::max<std::size_t>(most, least)) {
  }

  /// Messages of the batches that were spent.
  std::uint64_t handled() const noexcept {
    return handled_;
  }

  std::size_t next_batch() const noexcept {
    return batch_;
  }

  /// Whether the executor has had a look since the turn began.
  bool has_looked() const noexcept {
    return self_.last_look() != begin_;
  }

  /// The actor has handled that many of the batch, and has more.
  /// @returns whether it may go on.
  bool spend(std::uint64_t handled) noexcept {
    BASAL_ASSERT(handled > 0 && handled <= batch_ && handled <= left_,
                 "an actor handles no more messages than its turn has");
    left_ -= handled;
    handled_ += handled;
    // The actor may have been suspended and others have run meanwhile, all the more reason to stop.
    const auto spent = std::max<std::uint64_t>(1, self_.last_look() - begin_);
    const auto fit = spent < length_ ? (length_ - spent) * handled_ / spent : 0;
    if (fit < least) {
      self_.count_quantum_end();
      return false;
    }
    if (self_.turn_keeps_others_waiting(begin_, handled_))
      return false;
    batch_ = std::min<std::uint64_t>({batch_ * growth, fit, left_});
    return left_ >= least;
  }

private:
  /// With a limit of one message CAF 0.17.6 hands an actor whose timeout is 0 that timeout for ever
  /// and never the message behind it.
  static constexpr std::uint64_t least = 2;

  /// The first messages say little about those that follow.
  static constexpr std::uint64_t growth = 4;

  /// To handle a message takes four times as long as to send one where both are in the cache
  /// (`mailbox_20` of the executors' benchmark), and who once falls behind finds the rest out of it
  /// for as long as others send: with 4, one worker then took up to 1.5 times as long as CAF's. 16
  /// is a guess: beside a handler of 16 sends, what lies out of the cache should cost little.
  static constexpr std::uint64_t catch_up = 16;

  executors::executor& self_;
  const std::uint64_t begin_;
  const std::uint64_t length_; // ticks
  std::uint64_t batch_ = least;
  std::uint64_t handled_ = 0;
  std::uint64_t left_;
};

} // namespace basal::actors
