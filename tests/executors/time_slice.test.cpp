#include <basal/executors/detail/time_slice.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;
using basal::executors::detail::use_time_slice;

namespace {

/// Whether the kernel has the system call and no sandbox forbids it.
bool kernel_can_be_asked() {
  return syscall(SYS_sched_setattr, 0, nullptr, 0) != 0 && errno == EINVAL;
}

/// Runs `check` on a thread of its own, which has no priority over others.
template <class Check>
void on_a_thread(Check check) {
  std::thread{[&] {
    const auto self = static_cast<id_t>(gettid());
    if (getpriority(PRIO_PROCESS, self) < 0)
      REQUIRE(setpriority(PRIO_PROCESS, self, 0) == 0);
    check();
  }}.join();
}

} // namespace

TEST_CASE("a thread gets a time slice, and keeps its class and its nice value") {
  if (!kernel_can_be_asked())
    return;
  on_a_thread([] {
    const auto self = static_cast<id_t>(gettid());
    const auto nice = std::min(19, getpriority(PRIO_PROCESS, self) + 3);
    REQUIRE(setpriority(PRIO_PROCESS, self, nice) == 0);
    CHECK(use_time_slice(100us));
    CHECK((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER);
    CHECK(getpriority(PRIO_PROCESS, self) == nice);
  });
}

TEST_CASE("threads that it starts do not inherit the slice") {
  if (!kernel_can_be_asked())
    return;
  on_a_thread([] {
    REQUIRE(use_time_slice(100us));
    CHECK((sched_getscheduler(0) & SCHED_RESET_ON_FORK) != 0);
    on_a_thread([] { CHECK(sched_getscheduler(0) == SCHED_OTHER); });
  });
}

TEST_CASE("a thread of another class is left alone") {
  on_a_thread([] {
    const sched_param none{};
    REQUIRE(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
    CHECK_FALSE(use_time_slice(100us));
    CHECK(sched_getscheduler(0) == SCHED_BATCH);
  });
}
