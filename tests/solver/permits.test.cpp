#include <basal/solver/detail/permits.hpp>

#include <basal/executors/completion.hpp>

#include "support/catch.hpp"

#include <stop_token>
#include <thread>
#include <vector>

using basal::solver::backpressure;
using basal::solver::permits;
using namespace std::chrono_literals;

namespace {

struct recorder final : permits::waiter {
  std::vector<int>* order = nullptr;
  int name = 0;
  permits::verdict seen = permits::verdict::closed;
  basal::executors::completion done;

private:
  void answered(permits::verdict v) noexcept override {
    seen = v;
    if (order != nullptr)
      order->push_back(name);
    done.set();
  }
};

} // namespace

TEST_CASE("who finds no permit is queued and called back in order") {
  permits gate{{.concurrent_solves = 2}};
  std::vector<int> order;
  recorder waiters[5];
  for (int i = 0; i < 5; ++i) {
    waiters[i].order = &order;
    waiters[i].name = i;
  }
  CHECK(gate.acquire(waiters[0]) == permits::answer::granted);
  CHECK(gate.try_acquire());
  CHECK_FALSE(gate.try_acquire());
  CHECK(gate.in_use() == 2);
  for (int i = 1; i < 5; ++i)
    CHECK(gate.acquire(waiters[i]) == permits::answer::queued);
  SECTION("first come, first served") {
    for (int i = 0; i < 4; ++i)
      gate.release();
    CHECK(order == std::vector{1, 2, 3, 4});
    CHECK(waiters[4].seen == permits::verdict::granted);
    CHECK(gate.in_use() == 2);
  }
  SECTION("who withdraws is not called, whether first, middle or last") {
    CHECK(gate.withdraw(waiters[1]));
    CHECK(gate.withdraw(waiters[3]));
    CHECK_FALSE(gate.withdraw(waiters[3]));
    CHECK_FALSE(gate.withdraw(waiters[0]));
    gate.release();
    CHECK(gate.withdraw(waiters[4]));
    CHECK(order == std::vector{2});
    gate.release();
    CHECK(gate.in_use() == 1);
    CHECK(gate.try_acquire());
  }
  SECTION("closing answers those who wait and rejects all others") {
    gate.close();
    CHECK(order == std::vector{1, 2, 3, 4});
    CHECK(waiters[4].seen == permits::verdict::closed);
    CHECK_FALSE(gate.try_acquire());
    recorder late;
    CHECK(gate.acquire(late) == permits::answer::rejected);
    gate.release();
    CHECK_FALSE(gate.try_acquire());
  }
}

TEST_CASE("with the policy to reject nobody is queued") {
  permits gate{{.concurrent_solves = 1, .backpressure = backpressure::reject}};
  recorder who;
  CHECK(gate.acquire(who) == permits::answer::granted);
  CHECK(gate.acquire(who) == permits::answer::rejected);
  gate.release();
  CHECK(gate.acquire(who) == permits::answer::granted);
}

TEST_CASE("who has been told to stop gets a free permit, but does not queue") {
  permits gate{{.concurrent_solves = 1}};
  recorder who;
  std::stop_source source;
  source.request_stop();
  CHECK(gate.acquire(who, source.get_token()) == permits::answer::granted);
  CHECK(gate.acquire(who, source.get_token()) == permits::answer::rejected);
  gate.release();
}

TEST_CASE("with a time limit a waiter is told that it is over, and others go on") {
  permits gate{
    {.concurrent_solves = 1, .backpressure = backpressure::wait_timeout, .patience = 1ms}};
  recorder holder, late;
  CHECK(gate.acquire(holder) == permits::answer::granted);
  CHECK(gate.acquire(late) == permits::answer::queued);
  late.done.wait();
  CHECK(late.seen == permits::verdict::timed_out);
  CHECK_FALSE(gate.withdraw(late));
  gate.release();
  CHECK(gate.try_acquire()); // it went to nobody who had left
}

TEST_CASE("a waiter with a long time limit gets the permit that comes in time") {
  permits gate{
    {.concurrent_solves = 1, .backpressure = backpressure::wait_timeout, .patience = 1h}};
  recorder waiter;
  REQUIRE(gate.try_acquire());
  CHECK(gate.acquire(waiter) == permits::answer::queued);
  std::thread{[&] { gate.release(); }}.join();
  waiter.done.wait();
  CHECK(waiter.seen == permits::verdict::granted);
  gate.release();
}

TEST_CASE("limits that allow nothing are refused with the field's name") {
  basal::solver::solver_limits limits{.concurrent_solves = 0};
  CHECK_THROWS_WITH(limits.validate(), ContainsSubstring("concurrent_solves is 0"));
  limits = {.backpressure = backpressure::wait_timeout, .patience = -1ns};
  CHECK_THROWS_WITH(limits.validate(), ContainsSubstring("patience is -1 ns"));
  CHECK_NOTHROW(basal::solver::solver_limits{}.validate());
}
