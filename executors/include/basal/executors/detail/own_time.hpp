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

  std::int64_t without_cpu_since(const cpu_use& before) const noexcept {
    return (wall_ns - before.wall_ns) - (cpu_ns - before.cpu_ns);
  }

  /// Where it had no CPU, it waited. A hypervisor that takes the CPU makes neither count.
  bool has_only_waited_since(const cpu_use& before) const noexcept {
    return times_waited != before.times_waited && times_preempted == before.times_preempted;
  }
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
  /// @param was_idle there was none before: what the thread waited for was work
  void begin(const cpu_use& now, bool was_idle = false) noexcept {
    const auto waited = waited_ns_;
    note(now);
    if (was_idle)
      waited_ns_ = waited;
    last_ = now;
  }

  struct share {
    std::int64_t ns;  ///< at least, in which the work computed, or waits if it has blocked
    bool has_blocked; ///< it waited for half of its time or more, each time for long, and nobody
                      ///< took the CPU from it
  };

  /// @param took_ns how long the running work has taken up to `now`, since begin()
  /// @param least_wait_ns how long waits are that count, on average. Those for a lock that is held
  ///                      briefly, such as malloc's, last until the thread is woken
  share of_work(std::int64_t took_ns, const cpu_use& now, std::int64_t least_wait_ns) noexcept {
    note(now);
    const auto before = last_;
    last_ = now;
    const auto without_cpu = now.without_cpu_since(before);
    const auto least_waits_ns = (now.times_waited - before.times_waited) * least_wait_ns;
    if (now.has_only_waited_since(before) && without_cpu >= std::max(took_ns / 2, least_waits_ns))
      return {took_ns, true};
    return {std::clamp(took_ns - without_cpu, std::int64_t{0}, took_ns), false};
  }

  /// The time that others took of the thread's, as far as the kernel was asked, in ns.
  std::int64_t lost_ns() const noexcept {
    return lost_ns_;
  }

  /// The time for which work has waited, in waits of any length, as far as the kernel was asked.
  std::int64_t waited_ns() const noexcept {
    return waited_ns_;
  }

  /// Of a part of the work, whoever else asks in the middle of it: without what others had of it.
  /// @param lost_before lost_ns() as it began. What was lost before that, and is not known yet,
  ///                    counts for this part, unless the part is shorter than that
  std::int64_t of_part(std::int64_t took_ns, std::int64_t lost_before,
                       const cpu_use& now) noexcept {
    note(now);
    const auto lost = lost_ns_ - lost_before;
    return lost <= took_ns ? took_ns - lost : took_ns;
  }

private:
  void note(const cpu_use& now) noexcept {
    auto& sum = now.has_only_waited_since(noted_) ? waited_ns_ : lost_ns_;
    sum += std::max(std::int64_t{0}, now.without_cpu_since(noted_));
    noted_ = now;
  }

  cpu_use last_;  ///< as the work began
  cpu_use noted_; ///< as the kernel was last asked
  std::int64_t lost_ns_ = 0;
  std::int64_t waited_ns_ = 0;
};

} // namespace basal::executors
