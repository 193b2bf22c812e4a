#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace basal::executors {

/// How many executors of this process run on each CPU, as of when each of them has last looked
/// where it is; one that is being woken counts where it went to sleep, or is sent to. Any thread;
/// relaxed, since a count is a hint that is complete in itself.
///
/// An executor that only looks for work has left, so to it any other one on its CPU is one that
/// waits for that CPU: the kernel has put both there and knows no better than to let this one look
/// until its time slice is over.
class cpu_census {
public:
  static constexpr std::size_t max_cpus = 1024; ///< above that, CPUs share counts

  /// @param by 1 or -1
  void add(unsigned cpu, std::int32_t by) noexcept {
    cells_[cpu % max_cpus].running.fetch_add(by, std::memory_order_relaxed);
  }

  bool anybody_on(unsigned cpu) const noexcept {
    return cells_[cpu % max_cpus].running.load(std::memory_order_relaxed) > 0;
  }

private:
  struct alignas(64) cell {
    std::atomic<std::int32_t> running{0};
  };

  std::array<cell, max_cpus> cells_{};
};

/// The executors of all pools.
inline constinit cpu_census running_executors;

/// Where one executor counts as running. Owner only, or while that sleeps in the kernel, whoever is
/// about to wake it.
class running_on {
public:
  explicit running_on(cpu_census& census = running_executors) noexcept : census_(census) {
  }

  running_on(const running_on&) = delete;
  running_on& operator=(const running_on&) = delete;

  ~running_on() {
    leave();
  }

  /// Runs, on `cpu`: since now, or still.
  void be_on(unsigned cpu) noexcept {
    if (cpu == cpu_)
      return;
    leave();
    census_.add(cpu, 1);
    cpu_ = cpu;
  }

  void leave() noexcept {
    if (cpu_ != nowhere)
      census_.add(cpu_, -1);
    cpu_ = nowhere;
  }

private:
  static constexpr unsigned nowhere = ~0U;

  cpu_census& census_;
  unsigned cpu_ = nowhere;
};

} // namespace basal::executors
