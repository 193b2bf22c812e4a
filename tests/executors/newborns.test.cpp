// The order of first turns: those of actors that were just spawned.

#include "stepped_pool.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <vector>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

pool_config with_slot(std::size_t executors) {
  auto config = stepped(executors);
  config.newest_ops = &task::ops;
  return config;
}

} // namespace

TEST_CASE("of newborns the newest runs first") {
  executor_pool pool{with_slot(1)};
  std::vector<int> order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 5; ++i)
      self.push_newborn(task::make([&, i](executor& e) {
        order.push_back(i);
        CHECK(e.num_waiting() == static_cast<std::size_t>(i));
        CHECK(e.work_waits() == (i > 0));
        CHECK(e.work_waits_for_siblings() == (i > 0));
      }));
    CHECK(self.num_waiting() == 5);
  })));
  pool.run_until_idle();
  CHECK(order == std::vector<int>{4, 3, 2, 1, 0});
}

TEST_CASE("a tree whose nodes beget two others each is gone through depth first") {
  constexpr int levels = 12;
  executor_pool pool{with_slot(1)};
  int nodes = 0;
  int alive = 0;
  int most_alive = 0;
  std::function<work_item(int)> node = [&](int level) {
    most_alive = std::max(most_alive, ++alive);
    return task::make([&, level](executor& self) {
      ++nodes;
      if (level < levels)
        for (int i = 0; i < 2; ++i)
          self.push_newborn(node(level + 1));
      --alive;
    });
  };
  REQUIRE(pool.submit(node(1)));
  pool.run_until_idle();
  CHECK(nodes == (1 << levels) - 1);
  CHECK(most_alive <= 2 * levels); // breadth first: 2^(levels - 1)
}

TEST_CASE("of the many newborns of one parent the eldest runs first") {
  executor_pool pool{with_slot(1)};
  std::string order;
  const bool sends = GENERATE(false, true);
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (char name = 'a'; name <= 't'; ++name)
      self.push_newborn(task::make([&, name](executor&) { order += name; }));
    if (sends)
      self.push_newest(task::make([&](executor&) { order += '!'; }));
    REQUIRE(self.num_waiting() == (sends ? 21 : 20));
  })));
  pool.run_until_idle();
  CHECK(order == (sends ? "!abcdefghijklmnopqrst" : "abcdefghijklmnopqrst"));
}

TEST_CASE("the newborns of an earlier parent wait for those of a later one") {
  executor_pool pool{with_slot(1)};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newborn(task::make([&](executor&) { order += '1'; }));
    self.push_newborn(task::make([&](executor&) { order += '2'; }));
    self.push_newborn(task::make([&](executor& next) {
      for (char name = 'a'; name <= 'j'; ++name)
        next.push_newborn(task::make([&, name](executor&) { order += name; }));
    }));
  })));
  pool.run_until_idle();
  CHECK(order == "abcdefghij21");
}

TEST_CASE("newborns and the ring take turns, one and four") {
  executor_pool pool{with_slot(1)};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 4; ++i)
      self.push_newborn(task::make([&](executor&) { order += 'n'; }));
    self.push_newest(task::make([&](executor&) { order += 's'; }));
    for (int i = 0; i < 10; ++i)
      self.push_back(task::make([&](executor&) { order += 'r'; }));
  })));
  pool.run_until_idle();
  CHECK(order == "srrrrnrrrrnrrnn");
}

TEST_CASE("a newborn in the slot that has had its turns goes back to the newborns") {
  executor_pool pool{with_slot(1)};
  std::string order;
  std::function<void(executor&)> newest = [&](executor& self) {
    order += 's';
    if (order.size() < 3) // the slot has three turns a tick
      self.push_newest(task::make(newest));
    else
      self.push_newborn(task::make([&](executor&) { order += 'b'; }));
  };
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newborn(task::make([&](executor&) { order += 'a'; }));
    self.push_newest(task::make(newest));
  })));
  pool.run_until_idle();
  CHECK(order == "sssba");
}

TEST_CASE("the oldest newborn has a turn now and then, although newer ones come") {
  executor_pool pool{with_slot(1)};
  bool oldest_ran = false;
  int turns = 0;
  std::function<void(executor&)> fertile = [&](executor& self) {
    pass(1ms);
    self.look(time_now);
    if (++turns == 100 || oldest_ran)
      return;
    self.push_newborn(task::make(fertile));
    self.push_newborn(task::make([](executor&) {}));
  };
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newborn(task::make([&](executor&) { oldest_ran = true; }));
    self.push_newborn(task::make(fertile));
  })));
  pool.run_until_idle();
  CHECK(oldest_ran);
  CHECK(turns >= 8); // not before it has waited for executor::newborn_patience
  CHECK(turns <= 16);
}

TEST_CASE("a thief takes the older half of the newborns, before it takes from the ring") {
  executor_pool pool{with_slot(2)};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_back(task::make([&](executor&) { order += 'r'; }));
    for (const char name : {'0', '1', '2', '3', '4'}) // the last one stays in the slot
      self.push_newborn(task::make([&, name](executor&) { order += name; }));
  })));
  CHECK(pool.step(0));
  CHECK(pool.step(1));
  CHECK(order == "1");
  CHECK(pool.step(1));
  CHECK(order == "10");
  CHECK(pool.at(1).stats().tasks_stolen == 2);
  pool.run_until_idle();
  CHECK(order.size() == 6);
}

TEST_CASE("a thief that leaves items to their owner leaves newborns, too") {
  auto config = with_slot(2);
  config.simulate.ticks = &restless_clock::read;
  config.steal_after = 1ms;
  executor_pool pool{config};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (const char name : {'a', 'b'}) // 'b' stays in the slot
      self.push_newborn(task::make([&, name](executor&) { order += name; }));
  })));
  CHECK(pool.step(0));
  const auto before = time_now;
  CHECK(pool.step(1));
  CHECK(order == "a");
  CHECK(tick_clock::to_duration(time_now - before) >= executor::between_looks);
  pool.run_until_idle();
}

TEST_CASE("a thief that leaves newborns behind wakes the next one") {
  executor_pool pool{with_slot(3)};
  pool.run_until_idle();
  REQUIRE(pool.submit(task::make([](executor& self) {
    for (int i = 0; i < 4; ++i)
      self.push_newborn(task::make([](executor&) {}));
  })));
  CHECK(pool.step(0));
  CHECK(pool.step(1)); // takes two, runs one
  CHECK(pool.step(2));
  pool.run_until_idle();
}

TEST_CASE("newborns beyond 256 overflow into the injection queue and none is lost") {
  executor_pool pool{with_slot(1)};
  std::vector<int> order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 1000; ++i)
      self.push_newborn(task::make([&, i](executor&) { order.push_back(i); }));
  })));
  pool.run_until_idle();
  CHECK(pool.at(0).stats().overflows > 0);
  CHECK(order.size() == 1000);
  CHECK(order.front() == 0); // the eldest of many
}

TEST_CASE("a newborn from outside waits in the injection queue") {
  executor_pool pool{with_slot(1)};
  bool ran = false;
  REQUIRE(pool.submit_newborn(task::make([&](executor&) { ran = true; })));
  pool.run_until_idle();
  CHECK(ran);
  CHECK(pool.at(0).stats().injection_hits == 1);
}

TEST_CASE("an executor whose newborns wait takes one item from outside at a time") {
  executor_pool pool{with_slot(1)};
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 100; ++i)
      self.push_newborn(task::make([](executor&) {}));
    on_another_thread([&] {
      for (int i = 0; i < 3; ++i)
        CHECK(pool.submit(task::make([](executor&) {})));
    });
  })));
  pool.run_until_idle();
  CHECK(pool.at(0).stats().injection_batches == 4);
}

TEST_CASE("newborns wake sleepers") {
  auto config = pool_config{};
  config.name = "test";
  config.executors = 2;
  config.newest_ops = &task::ops;
  executor_pool pool{config};
  // Two that meet: each runs until the other does.
  std::atomic<int> present{0};
  std::atomic<bool> met{false};
  const auto meet = [&](executor&) {
    if (present.fetch_add(1) == 0)
      present.wait(1);
    else
      present.notify_one();
    met = true;
  };
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newborn(task::make(meet));
    self.push_newborn(task::make(meet));
  })));
  pool.stop(stop_mode::drain);
  CHECK(met);
}
