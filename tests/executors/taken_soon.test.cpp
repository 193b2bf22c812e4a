// Actors' jobs that come from outside wake nobody while an executor that is awake comes to them
// before another one has woken up. Pools that take steps.

#include "backstop.hpp"
#include "closure_task.hpp"
#include "recurring.hpp"
#include "stepped_pool.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <functional>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

/// Three executors, of which the first one runs items of some time, and knows that.
struct some_executors {
  executor_pool pool;
  recurring item{[](executor&) {}};

  explicit some_executors(std::chrono::nanoseconds usual) : pool{with_newest_ops()} {
    pool.run_until_idle();
    if (usual > 0ns)
      for (int i = 0; i < 3; ++i)
        run_on_first(usual);
  }

  static pool_config with_newest_ops() {
    auto config = stepped(3);
    config.newest_ops = &recurring::ops;
    return config;
  }

  /// Until there is nothing left to do.
  void run_on(
    std::size_t index, std::chrono::nanoseconds time, const std::function<void()>& then = [] {}) {
    recurring one{[&](executor& self) {
      pass(time);
      self.look(self.now());
      then();
    }};
    inbox_node letter{nullptr, one.item()};
    pool.at(index).deliver(letter);
    pool.run_until_idle();
  }

  void run_on_first(
    std::chrono::nanoseconds time, const std::function<void()>& then = [] {}) {
    run_on(0, time, then);
  }

  /// As many are awake once `count` items have come while the first one runs another.
  std::size_t awake_after(std::size_t count) {
    std::size_t result = 0;
    run_on_first(1us, [&] {
      on_another_thread([&] {
        for (std::size_t i = 0; i < count; ++i)
          REQUIRE(pool.submit(item.item()));
      });
      result = num_awake(pool);
    });
    return result;
  }
};

} // namespace

TEST_CASE("few short items from outside wait for the executor that is awake") {
  some_executors here{1us};
  CHECK(here.awake_after(1) == 1);
  CHECK(here.awake_after(8) == 1);
}

TEST_CASE("so many that a theft pays for some wake one that looks for work") {
  some_executors here{1us};
  CHECK(here.awake_after(20) == 2);
}

TEST_CASE("items that take long, or of which nothing is known, wake an executor") {
  CHECK(some_executors{200us}.awake_after(1) == 2);
  CHECK(some_executors{0us}.awake_after(1) == 2);
}

TEST_CASE("after a long one lately the next may be long, too") {
  some_executors here{1us};
  here.run_on_first(1ms);
  here.run_on_first(1us);
  here.run_on_first(1us);
  CHECK(here.awake_after(1) == 2);
  for (int i = 0; i < 50; ++i)
    here.run_on_first(1us);
  CHECK(here.awake_after(1) == 1);
}

TEST_CASE("a short item wakes one that looks for work and comes before the one that is awake") {
  some_executors here{1us};
  for (int i = 0; i < 3; ++i)
    here.run_on(1, 1us);
  here.run_on(1, 1us, [&] {
    on_another_thread([&] { REQUIRE(here.pool.submit(here.item.item())); });
    CHECK(num_awake(here.pool) == 2);
  });
}

TEST_CASE("what is no actor's job, whose time nothing tells, wakes an executor") {
  some_executors here{1us};
  here.run_on_first(1us, [&] {
    on_another_thread([&] { REQUIRE(here.pool.submit(nothing_special())); });
    CHECK(num_awake(here.pool) == 2);
  });
}

TEST_CASE(
  "an executor that was woken for short items from outside wakes no other one for the rest") {
  some_executors here{1us};
  for (int i = 0; i < 8; ++i)
    REQUIRE(here.pool.submit(here.item.item()));
  REQUIRE(num_awake(here.pool) == 1);
  for (int i = 0; i < 8; ++i) {
    CHECK(here.pool.step(0));
    CHECK(num_awake(here.pool) == 1);
  }
}

TEST_CASE("of long items from outside the rest wakes another one") {
  some_executors here{200us};
  for (int i = 0; i < 20; ++i)
    REQUIRE(here.pool.submit(here.item.item()));
  REQUIRE(num_awake(here.pool) == 1);
  CHECK(here.pool.step(0));
  CHECK(num_awake(here.pool) == 2);
  here.pool.run_until_idle();
}

TEST_CASE("where all that waits is short, others' long queues have an executor all the same") {
  some_executors here{1us};
  recurring slow{[](executor& self) {
    pass(1ms);
    self.look(self.now());
  }};
  for (int i = 0; i < 3; ++i) { // executor 1 knows that its items take long
    inbox_node letter{nullptr, slow.item()};
    here.pool.at(1).deliver(letter);
    here.pool.run_until_idle();
  }
  recurring feeder{[&](executor& self) {
    for (int i = 0; i < 4; ++i)
      self.push_back(slow.item());
  }};
  REQUIRE(here.pool.submit(here.item.item())); // for which one searches, so that no ring wakes one
  inbox_node letter{nullptr, feeder.item()};
  here.pool.at(1).deliver(letter);
  CHECK(here.pool.step(1));
  CHECK(num_awake(here.pool) == 2);
  CHECK(here.pool.step(0)); // its search ends
  CHECK(num_awake(here.pool) == 3);
  here.pool.run_until_idle();
}

TEST_CASE(
  "what waits behind an item that takes long after all has an executor at the second look") {
  some_executors here{1us};
  backstop clock{here.pool};
  here.run_on_first(1us, [&] {
    on_another_thread([&] { REQUIRE(here.pool.submit(here.item.item())); });
    clock.look_around();
    CHECK(num_awake(here.pool) == 1);
    clock.look_around();
    CHECK(num_awake(here.pool) == 2);
  });
}
