#pragma once

#include <algorithm>
#include <cstdint>

namespace basal::executors {

/// A thread's use of CPUs up to some moment, as the kernel counts.
struct cpu_use {
  std::int64_t wall_ns = 0; ///< that moment, of any clock
  std::int64_t cpu_ns = 0;  ///< in which it had a CPU
  long times_waited = 0;    ///< it gave the CPU away, to wait for something
  long times_preempted = 0; ///< another thread had the CPU instead

  /// Of the calling thread; two system calls, some 0.5 us.
  static cpu_use of_this_thread(std::int64_t wall_ns) noexcept;
};

/// How much of the time that work took was its own, and how much its thread spent without a CPU
/// because others had it. The kernel is asked now and then and where work has taken long, not for
/// each piece of work: all time without a CPU since it was last asked is taken off the work's.
/// So the answer is too low where some of it was before that work; where the next one takes long,
/// too, it is not.
///
/// Plain data, owned by one executor.
class own_time {
public:
  /// Work begins now.
  void begin(const cpu_use& now) noexcept {
    last_ = now;
  }

  struct share {
    std::int64_t ns;  ///< at least, in which the work computed, or waited for something itself
    bool has_blocked; ///< it waited for half of its time or more, and nobody took the CPU from it
  };

  /// @param took_ns how long the running work has taken up to `now`, since begin()
  share of_work(std::int64_t took_ns, const cpu_use& now) noexcept {
    const auto result = of_work_so_far(took_ns, now);
    last_ = now;
    return result;
  }

  /// The same for who asks in the middle of it.
  share of_work_so_far(std::int64_t took_ns, const cpu_use& now) const noexcept {
    const auto without_cpu = (now.wall_ns - last_.wall_ns) - (now.cpu_ns - last_.cpu_ns);
    // A hypervisor that takes the CPU makes neither count.
    if (now.times_waited != last_.times_waited && now.times_preempted == last_.times_preempted
        && without_cpu >= took_ns / 2)
      return {took_ns, true};
    return {std::clamp(took_ns - without_cpu, std::int64_t{0}, took_ns), false};
  }

private:
  cpu_use last_;
};

} // namespace basal::executors
