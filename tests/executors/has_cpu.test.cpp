// Whether work in the queues wakes a further executor, by whether there is a CPU for it. Pools that
// take steps, where nothing happens at the same time, but for what threads do by themselves.

#include "backstop.hpp"
#include "closure_task.hpp"
#include "recurring.hpp"
#include "stepped_pool.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <cstddef>
#include <thread>

using namespace basal::executors;

namespace {

/// The other end of a pool's hooks.
struct machine {
  std::atomic<bool> has_cpu{false};
  std::atomic<bool> is_crowded{true};
  std::atomic<int> questions{0};
  std::atomic<int> cpus_freed{0};

  pool_config in(pool_config config) {
    config.hooks.context = this;
    config.hooks.has_cpu = [](void* self) noexcept {
      auto& mine = *static_cast<machine*>(self);
      ++mine.questions;
      return mine.has_cpu.load();
    };
    config.hooks.frees_cpu = [](void* self) noexcept { ++static_cast<machine*>(self)->cpus_freed; };
    return config;
  }

  pool_config crowded(pool_config config) {
    config.newest_ops = &recurring::ops;
    config.hooks.context = this;
    config.hooks.crowds = [](void* self, const executor&) noexcept {
      auto& mine = *static_cast<machine*>(self);
      ++mine.questions;
      return mine.is_crowded.load();
    };
    return config;
  }
};

/// Work on executor 0 that sends to two: one of them waits in the ring.
struct sender_of_two {
  recurring first{[](executor&) {}};
  recurring second{[](executor&) {}};
  recurring sender{[this](executor& self) {
    self.push_newest(first.item());
    self.push_newest(second.item());
  }};
  inbox_node letter{};

  /// Items are known to be short from the third tick on, which ends where nothing is left to do.
  static void let_short_items_run(executor_pool& pool) {
    recurring short_one{[](executor& self) {
      pass(std::chrono::microseconds{1});
      self.look(self.now());
    }};
    for (int i = 0; i < 3; ++i) {
      inbox_node letter{nullptr, short_one.item()};
      pool.at(0).deliver(letter);
      pool.run_until_idle();
    }
  }

  void run_on(executor_pool& pool) {
    letter = {nullptr, sender.item()};
    pool.at(0).deliver(letter);
    REQUIRE(pool.step(0));
  }
};

} // namespace

TEST_CASE("while there is no CPU for another executor, work waits for the one that is awake") {
  machine here;
  executor_pool pool{here.in(stepped(3))};
  pool.run_until_idle();
  REQUIRE(pool.submit(nothing_special())); // wakes one in any case, which counts as searching
  CHECK(num_awake(pool) == 1);
  CHECK(here.questions == 0);
  REQUIRE(pool.submit(nothing_special()));
  CHECK(pool.step(0)); // its search ends, and another item is there
  CHECK(num_awake(pool) == 1);
  REQUIRE(pool.submit(nothing_special()));
  CHECK(num_awake(pool) == 1);
  CHECK(here.questions == 2);
  CHECK(pool.run_until_idle() == 2);
}

TEST_CASE("where there is a CPU, work wakes a further executor") {
  machine here;
  here.has_cpu = true;
  executor_pool pool{here.in(stepped(3))};
  pool.run_until_idle();
  REQUIRE(pool.submit(nothing_special()));
  REQUIRE(pool.submit(nothing_special()));
  CHECK(pool.step(0));
  CHECK(num_awake(pool) == 2);
  CHECK(pool.run_until_idle() == 1);
}

TEST_CASE("a CPU that becomes free is for work that waits for one") {
  machine here;
  executor_pool pool{here.in(stepped(3))};
  pool.run_until_idle();
  for (int i = 0; i < 3; ++i)
    REQUIRE(pool.submit(nothing_special()));
  CHECK(pool.step(0));
  pool.note_free_cpu(); // somebody else was quicker
  CHECK(num_awake(pool) == 1);
  here.has_cpu = true;
  pool.note_free_cpu(); // the wish is still there
  CHECK(num_awake(pool) == 2);
  CHECK(pool.run_until_idle() == 2);
}

TEST_CASE("a CPU that becomes free when the work is done wakes nobody") {
  machine here;
  executor_pool pool{here.in(stepped(3))};
  pool.run_until_idle();
  REQUIRE(pool.submit(nothing_special()));
  REQUIRE(pool.submit(nothing_special()));
  CHECK(pool.run_until_idle() == 2);
  CHECK(here.questions == 1);
  here.has_cpu = true;
  pool.note_free_cpu();
  CHECK(num_awake(pool) == 0);
  CHECK(here.questions == 1);
}

namespace {

/// Stops a pool of two while executor 1 stays, asleep.
/// @param push leaves work behind on executor 0
template <class Push>
void check_wakes_while_it_stops(executor_pool& pool, Push push) {
  completion done; // until then executor 1 stays
  inbox_node waits{nullptr, task::make([&](executor&) { done.wait(); })};
  inbox_node first{nullptr, nothing_special()}; // while executor 1 goes to sleep again
  inbox_node second{nullptr, task::make([&](executor& self) {
                      CHECK(pool.is_idle(1));
                      push(self);
                      CHECK_FALSE(pool.is_idle(1));
                      done.set();
                    })};
  pool.at(1).deliver(waits);
  pool.run_until_idle();
  pool.at(0).deliver(first);
  pool.at(0).deliver(second);
  pool.stop(stop_mode::drain);
  CHECK(done.is_set());
  CHECK(pool.num_running() == 0);
}

} // namespace

TEST_CASE("in a pool that stops, work does not wait for a CPU") {
  machine here;
  executor_pool pool{here.in(stepped(2))};
  pool.run_until_idle();
  check_wakes_while_it_stops(pool, [](executor& self) { self.push_back(nothing_special()); });
}

TEST_CASE("an executor that goes to sleep has freed its CPU, once each time") {
  machine here;
  executor_pool pool{here.in(stepped(1))};
  pool.run_until_idle();
  CHECK(here.cpus_freed == 1);
  REQUIRE(pool.submit(nothing_special()));
  CHECK(here.cpus_freed == 1);
  pool.run_until_idle();
  CHECK(here.cpus_freed == 2);
  while (pool.step(0)) {
  }
  CHECK(here.cpus_freed == 2);
}

TEST_CASE("an executor with a thread says that it frees its CPU") {
  machine here;
  pool_config config;
  config.executors = 1;
  executor_pool pool{here.in(config)};
  REQUIRE(pool.submit(nothing_special()));
  while (here.cpus_freed == 0)
    std::this_thread::yield();
}

TEST_CASE("the backstop finds a CPU that nobody has spoken of") {
  machine here;
  executor_pool pool{here.in(stepped(3))};
  pool.run_until_idle();
  backstop clock{pool};
  for (int i = 0; i < 4; ++i)
    REQUIRE(pool.submit(nothing_special()));
  CHECK(pool.step(0));
  clock.look_around();
  CHECK(num_awake(pool) == 1);
  CHECK(pool.step(0)); // at no long task
  here.has_cpu = true;
  clock.look_around();
  CHECK(num_awake(pool) == 2);
  CHECK(pool.run_until_idle() == 2);
}

TEST_CASE("work behind a task that is the same at two looks has an executor without a CPU") {
  machine here;
  executor_pool pool{here.in(stepped(3))};
  pool.run_until_idle();
  backstop clock{pool};
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_back(nothing_special());
    clock.look_around();
    CHECK(num_awake(pool) == 1);
    clock.look_around();
    CHECK(num_awake(pool) == 2);
  })));
  CHECK(pool.run_until_idle() == 2);
}

TEST_CASE("work behind one long task, which the others do not come to, has an executor, too") {
  machine here;
  executor_pool pool{here.in(stepped(3))};
  pool.run_until_idle();
  backstop clock{pool};
  inbox_node letter{nullptr, nothing_special()};
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_back(nothing_special());
    clock.look_around();
    pool.at(1).deliver(letter); // awake, and at no long task
    clock.look_around();
    CHECK(num_awake(pool) == 3);
  })));
  CHECK(pool.run_until_idle() == 3);
}

TEST_CASE("work behind long tasks does not wait for a CPU for ever") {
  machine here;
  pool_config config;
  config.executors = 2;
  executor_pool pool{here.in(config)};
  completion done;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    std::atomic<bool> ran{false};
    self.push_back(task::make([&](executor&) { ran = true; }));
    while (!ran)
      std::this_thread::yield();
    done.set();
  })));
  done.wait();
}

TEST_CASE("work that waits briefly wakes nobody who would crowd another pool's executor out") {
  machine here;
  executor_pool pool{here.crowded(stepped(3))};
  pool.run_until_idle();
  sender_of_two::let_short_items_run(pool);
  sender_of_two work;
  work.sender.body = [&, send = work.sender.body](executor& self) {
    pass(std::chrono::microseconds{20});
    self.look(self.now());
    send(self);
  };
  work.run_on(pool);
  CHECK(pool.step(0));
  CHECK(num_awake(pool) == 1);
  CHECK(here.questions == 1);
  pool.note_free_cpu(); // for which the work has asked
  CHECK(num_awake(pool) == 2);
  CHECK(pool.run_until_idle() == 1);
}

TEST_CASE("work that waits briefly wakes an executor that is in nobody's way") {
  machine here;
  here.is_crowded = false;
  executor_pool pool{here.crowded(stepped(3))};
  pool.run_until_idle();
  sender_of_two::let_short_items_run(pool);
  sender_of_two work;
  work.run_on(pool);
  CHECK(num_awake(pool) == 2);
  CHECK(here.questions == 1);
  for (work.run_on(pool); pool.step(0);) {
    // all of it while one searches
  }
  CHECK(here.questions == 1);
  CHECK(pool.run_until_idle() == 0);
}

TEST_CASE("work that waits for long wakes an executor, whoever is crowded out") {
  machine here;
  executor_pool pool{here.crowded(stepped(3))};
  pool.run_until_idle();
  recurring takes_long{[](executor& self) {
    pass(std::chrono::milliseconds{2});
    self.look(self.now());
  }};
  for (int i = 0; i < 4; ++i) {
    inbox_node letter{nullptr, takes_long.item()};
    pool.at(0).deliver(letter);
    REQUIRE(pool.step(0));
  }
  sender_of_two work;
  work.run_on(pool);
  CHECK(num_awake(pool) == 2);
  CHECK(here.questions == 0);
  CHECK(pool.run_until_idle() == 2);
}

TEST_CASE("what has waited behind a long item after all wakes an executor") {
  machine here;
  executor_pool pool{here.crowded(stepped(3))};
  pool.run_until_idle();
  sender_of_two::let_short_items_run(pool);
  sender_of_two work;
  work.second.body = [](executor& self) {
    pass(std::chrono::microseconds{20});
    self.look(self.now());
  };
  work.run_on(pool);
  CHECK(pool.step(0));
  CHECK(num_awake(pool) == 1);
  CHECK(pool.step(0)); // the other one, on its way to which it sees that
  CHECK(num_awake(pool) == 2);
  CHECK(pool.run_until_idle() == 0);
}

TEST_CASE("items of which nothing is known yet wake an executor, whoever is crowded out") {
  machine here;
  executor_pool pool{here.crowded(stepped(3))};
  pool.run_until_idle();
  sender_of_two work;
  work.run_on(pool);
  CHECK(num_awake(pool) == 2);
  CHECK(pool.run_until_idle() == 2);
}

TEST_CASE("in a pool that stops, executors wake up, whoever is crowded out") {
  machine here;
  executor_pool pool{here.crowded(stepped(2))};
  pool.run_until_idle();
  sender_of_two::let_short_items_run(pool);
  sender_of_two work;
  check_wakes_while_it_stops(pool, work.sender.body);
}
