// How much of the time that work took was its own.

#include <basal/executors/detail/own_time.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cstdint>
#include <thread>

using namespace basal::executors;

namespace {

std::int64_t wall_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

} // namespace

TEST_CASE("time with a CPU is the work's own") {
  own_time t;
  t.begin({.wall_ns = 1000, .cpu_ns = 50});
  const auto own = t.of_work(300, {.wall_ns = 1300, .cpu_ns = 350}, 0);
  CHECK(own.ns == 300);
  CHECK_FALSE(own.has_blocked);
}

TEST_CASE("time in which another thread had the CPU is not") {
  own_time t;
  t.begin({.wall_ns = 1000, .cpu_ns = 50, .times_preempted = 7});
  CHECK(t.of_work(300, {.wall_ns = 1300, .cpu_ns = 150, .times_preempted = 8}, 0).ns == 100);
}

TEST_CASE("all time without a CPU since the thread was last looked at is taken off") {
  own_time t;
  t.begin({});
  CHECK(t.of_work(300, {.wall_ns = 1000, .cpu_ns = 400, .times_preempted = 1}, 0).ns == 0);
  // Looked at with the work before: the next one has its own alone.
  CHECK(t.of_work(300, {.wall_ns = 2000, .cpu_ns = 1300, .times_preempted = 2}, 0).ns == 200);
}

TEST_CASE("what others had is taken off one part of the work, whoever asks meanwhile") {
  own_time t;
  t.begin({.wall_ns = 1000, .cpu_ns = 50});
  auto before = t.lost_ns();
  SECTION("nobody") {
  }
  SECTION("who looks at the work") {
    t.of_work(900, {.wall_ns = 1900, .cpu_ns = 150, .times_preempted = 1}, 0);
  }
  SECTION("who begins anew") {
    t.begin({.wall_ns = 1900, .cpu_ns = 150, .times_preempted = 1});
  }
  CHECK(t.of_part(1000, before, {.wall_ns = 2000, .cpu_ns = 250, .times_preempted = 1}) == 200);
  before = t.lost_ns();
  CHECK(t.of_part(300, before, {.wall_ns = 2300, .cpu_ns = 550, .times_preempted = 1}) == 300);
}

TEST_CASE("more than a part has taken was lost before it, and nothing is known of the part") {
  own_time t;
  t.begin({});
  const auto before = t.lost_ns();
  CHECK(t.of_part(300, before, {.wall_ns = 5000, .cpu_ns = 400, .times_preempted = 1}) == 300);
}

TEST_CASE("waits of a part's own are not taken off") {
  own_time t;
  t.begin({.times_waited = 3});
  const auto before = t.lost_ns();
  CHECK(t.of_part(300, before, {.wall_ns = 300, .cpu_ns = 1, .times_waited = 4}) == 300);
}

TEST_CASE("of work that has blocked its thread, all is its own") {
  own_time t;
  t.begin({.times_waited = 3});
  const auto own = t.of_work(300, {.wall_ns = 300, .cpu_ns = 1, .times_waited = 4}, 0);
  CHECK(own.ns == 300);
  CHECK(own.has_blocked);
}

TEST_CASE("work whose waits were short on average has computed in the rest") {
  own_time t;
  t.begin({.wall_ns = 0, .cpu_ns = 0, .times_waited = 3});
  const cpu_use after{.wall_ns = 300, .cpu_ns = 60, .times_waited = 5};
  const auto [ns, has_blocked] = t.of_work(300, after, 121);
  CHECK(ns == 60);
  CHECK_FALSE(has_blocked);
  t.begin({.times_waited = 3});
  CHECK(t.of_work(300, after, 120).has_blocked);
}

TEST_CASE("waits of any length are summed up, but for those of an idle thread") {
  own_time t;
  t.begin({});
  t.of_work(300, {.wall_ns = 300, .cpu_ns = 60, .times_waited = 2}, 1000);
  CHECK(t.waited_ns() == 240);
  t.begin({.wall_ns = 400, .cpu_ns = 100, .times_waited = 3});
  CHECK(t.waited_ns() == 300);
  t.begin({.wall_ns = 500, .cpu_ns = 100, .times_waited = 4}, true);
  CHECK(t.waited_ns() == 300);
  t.begin({.wall_ns = 600, .cpu_ns = 100, .times_waited = 5, .times_preempted = 1});
  CHECK(t.waited_ns() == 300);
  CHECK(t.lost_ns() == 100);
}

TEST_CASE("work that waited for a moment has computed") {
  own_time t;
  t.begin({.times_waited = 3});
  const auto own = t.of_work(300, {.wall_ns = 300, .cpu_ns = 290, .times_waited = 4}, 0);
  CHECK(own.ns == 290);
  CHECK_FALSE(own.has_blocked);
}

TEST_CASE("work that was in the way of others and blocked its thread has what it computed") {
  own_time t;
  t.begin({});
  const auto own
    = t.of_work(300, {.wall_ns = 300, .cpu_ns = 20, .times_waited = 1, .times_preempted = 1}, 0);
  CHECK(own.ns == 20);
  CHECK_FALSE(own.has_blocked);
}

TEST_CASE("clocks that do not agree make nothing negative, nor longer than it was") {
  own_time t;
  t.begin({});
  CHECK(t.of_work(100, {.wall_ns = 100, .cpu_ns = 120}, 0).ns == 100);
  CHECK(t.of_work(100, {.wall_ns = 5000, .cpu_ns = 130}, 0).ns == 0);
}

TEST_CASE("the kernel counts the thread's CPU time and its waits") {
  const auto before = cpu_use::of_this_thread(wall_ns());
  while (cpu_use::of_this_thread(wall_ns()).cpu_ns - before.cpu_ns < 100'000) {
  }
  std::this_thread::sleep_for(std::chrono::microseconds{100});
  const auto after = cpu_use::of_this_thread(wall_ns());
  CHECK(after.times_waited > before.times_waited);
  CHECK(after.wall_ns - before.wall_ns >= 200'000);
}
