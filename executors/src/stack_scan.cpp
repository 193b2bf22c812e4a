#include <basal/executors/detail/stack_scan.hpp>

#include <cerrno>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include <basal/executors/detail/assert.hpp>

namespace basal::executors {

namespace {

bool membarrier(int command) noexcept {
  return syscall(SYS_membarrier, command, 0, 0) == 0;
}

} // namespace

void stack_scan::prepare() {
  if (!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
    throw std::system_error(errno, std::generic_category(),
                            "basal: the collector needs the system call membarrier; use Linux "
                            "4.14 or newer, or allow it in the sandbox");
}

void stack_scan::hold_switches() noexcept {
  held_.store(true, std::memory_order_seq_cst);
  // Registered by prepare(), after which it cannot fail.
  if (!membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
    detail::assertion_failed("stack_scan::prepare() comes before hold_switches()", __FILE__,
                             __LINE__);
}

void stack_scan::allow_switches() noexcept {
  held_.store(false, std::memory_order_release);
}

void stack_scan::wait_until_allowed(executor& e) noexcept {
  do {
    e.switching_.store(false, std::memory_order_release);
    // The collector is about to stop this very thread, here.
    while (held_.load(std::memory_order_acquire))
      sched_yield();
    e.switching_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } while (held_.load(std::memory_order_relaxed));
}

} // namespace basal::executors
