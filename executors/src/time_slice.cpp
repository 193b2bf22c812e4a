#include <basal/executors/detail/time_slice.hpp>

#include <cstdint>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace basal::executors::detail {

namespace {

/// The kernel's `struct sched_attr` in its first version; glibc before 2.41 has none.
struct attributes {
  std::uint32_t size = sizeof(attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

constexpr std::uint64_t reset_on_fork = 1; // SCHED_FLAG_RESET_ON_FORK

} // namespace

bool use_time_slice(std::chrono::nanoseconds length) noexcept {
  attributes mine;
  if (syscall(SYS_sched_getattr, 0, &mine, sizeof mine, 0) != 0)
    return false;
  // With the flag, children of a thread with a negative nice value would lose that, too.
  if (mine.policy != SCHED_OTHER || mine.nice < 0)
    return false;
  mine.size = sizeof mine;
  mine.flags = reset_on_fork;
  mine.runtime_ns = static_cast<std::uint64_t>(length.count());
  return syscall(SYS_sched_setattr, 0, &mine, 0) == 0;
}

} // namespace basal::executors::detail
