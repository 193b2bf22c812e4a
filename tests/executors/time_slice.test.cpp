#include <basal/executors/detail/time_slice.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;
using basal::executors::detail::use_time_slice;

namespace {

/// Runs `check` on a thread of its own, whose priority is nobody else's business.
template <class Check>
void on_a_thread(Check check) {
  std::thread{check}.join();
}

} // namespace

TEST_CASE("a thread gets a time slice, and keeps its class and its nice value") {
  on_a_thread([] {
    REQUIRE(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 3) == 0);
    CHECK(use_time_slice(100us));
    CHECK((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER);
    CHECK(getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())) == 3);
  });
}

TEST_CASE("threads that it starts do not inherit the slice") {
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
