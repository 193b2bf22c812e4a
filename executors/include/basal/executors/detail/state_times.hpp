#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace basal::executors {

/// Occupation of an executor's thread.
enum class executor_state : std::uint8_t {
  running, ///< runs work, looks through queues, switches
  looking, ///< spins for work that may come soon
  parked,  ///< sleeps in the kernel
};

inline constexpr std::size_t executor_states = 3;

/// Ticks by state, since the first enter().
using ticks_by_state = std::array<std::uint64_t, executor_states>;

/// How long an executor has been in each of its states. One writer, which enters a state where it
/// reads the clock anyway; any number of readers, which add what has passed since, so that nobody
/// has to tick. Wait-free for the writer, whom readers never keep; a reader looks again where two
/// changes came during its look, which take microseconds each.
///
/// Protocol. Record n, of the n-th change, lies in slot n % 2: the sums before it, the state and
/// its beginning.
///
///     writer, at change n                    reader
///     -------------------                    ------
///     slot[n]: all words         release     end = changes_              acquire
///     changes_ = n + 1           release     words of slot[end - 1]      acquire
///                                            again = changes_            acquire
///                                            keep them if again == end
///
/// The first load shows record end - 1 whole: it pairs with the store of `changes_`. A word that
/// the reader finds overwritten, by record end + 1, was stored after `changes_` became end + 1;
/// the acquire load of that word pairs with its release store, so `again` is at least end + 1, and
/// the reader looks again. A writer that is preempted within record `end` keeps no reader waiting,
/// since it writes the other slot.
///
/// `Atomic` is a parameter so that tests can run the same code under a controlled scheduler.
template <template <class> class Atomic = std::atomic>
class basic_state_times {
public:
  /// Writer only. @param present ticks
  void enter(executor_state state, std::uint64_t present) noexcept {
    auto& to = slots_[changes_.load(std::memory_order_relaxed) % 2];
    for (std::size_t i = 0; i < executor_states; ++i)
      to.spent[i].store(spent_at(i, present), std::memory_order_release);
    to.state.store(static_cast<std::uint8_t>(state), std::memory_order_release);
    to.since.store(present, std::memory_order_release);
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// Any thread. @param present ticks
  ticks_by_state at(std::uint64_t present) const noexcept {
    for (;;) {
      const auto end = changes_.load(std::memory_order_acquire);
      if (end == 0)
        return {};
      const auto& from = slots_[(end - 1) % 2];
      ticks_by_state result{};
      for (std::size_t i = 0; i < executor_states; ++i)
        result[i] = from.spent[i].load(std::memory_order_acquire);
      const auto state = from.state.load(std::memory_order_acquire);
      const auto since = from.since.load(std::memory_order_acquire);
      if (changes_.load(std::memory_order_acquire) != end)
        continue;
      result[state] += present > since ? present - since : 0;
      return result;
    }
  }

  /// For how many ticks it is in `state` now; 0: it is in another one. Any thread.
  std::uint64_t now_in(executor_state state, std::uint64_t present) const noexcept {
    for (;;) {
      const auto end = changes_.load(std::memory_order_acquire);
      if (end == 0)
        return 0;
      const auto& from = slots_[(end - 1) % 2];
      const auto seen = from.state.load(std::memory_order_acquire);
      const auto since = from.since.load(std::memory_order_acquire);
      if (changes_.load(std::memory_order_acquire) == end)
        return seen == static_cast<std::uint8_t>(state) && present > since ? present - since : 0;
    }
  }

private:
  struct slot {
    std::array<Atomic<std::uint64_t>, executor_states> spent{};
    Atomic<std::uint8_t> state{0};
    Atomic<std::uint64_t> since{0};
  };

  /// Of the newest record. Relaxed: the writer's own.
  std::uint64_t spent_at(std::size_t state, std::uint64_t present) const noexcept {
    const auto changes = changes_.load(std::memory_order_relaxed);
    if (changes == 0)
      return 0;
    const auto& from = slots_[(changes - 1) % 2];
    const auto spent = from.spent[state].load(std::memory_order_relaxed);
    if (from.state.load(std::memory_order_relaxed) != state)
      return spent;
    const auto since = from.since.load(std::memory_order_relaxed);
    return spent + (present > since ? present - since : 0);
  }

  std::array<slot, 2> slots_{};
  Atomic<std::uint64_t> changes_{0};
};

using state_times = basic_state_times<>;

} // namespace basal::executors
