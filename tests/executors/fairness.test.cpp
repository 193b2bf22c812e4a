// Turns of sources of work: the rules by which no source starves another.

#include "recurring.hpp"
#include "stepped_pool.hpp"
#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

// An executor with two tasks of `length` that go on for ever. Once the average run time is
// learned: how many items it runs until a task from outside has run, that task included, if the
// latter comes right behind another one.
std::vector<int> waits_of(std::chrono::nanoseconds length) {
  executor_pool pool{stepped(1)};
  bool stop = false;
  bool ran = false;
  std::function<void(executor&)> own = [&](executor& self) {
    pass(length);
    if (!stop)
      self.push_back(task::make(own));
  };
  auto submit = [&](auto body) { REQUIRE(pool.submit(task::make(body))); };
  submit(own);
  submit(own);
  for (int i = 0; i < 20'000; ++i)
    pool.step(0);
  std::vector<int> result;
  for (int i = 0; i < 4; ++i) {
    ran = false;
    submit([&](executor&) {
      pass(length);
      ran = true;
    });
    int steps = 0;
    while (!ran && steps < 1000) {
      pool.step(0);
      ++steps;
    }
    result.push_back(steps);
  }
  result.erase(result.begin()); // began anywhere between two looks
  stop = true;
  pool.run_until_idle();
  return result;
}

} // namespace

// In the scheduler that this one follows, an executor with work of its own never looked at the
// shared queue, and the interval counted ticks of up to 128 tasks.
TEST_CASE("a task from outside runs within the interval, which is as many tasks as a millisecond") {
  struct {
    std::chrono::nanoseconds length;
    int wait;
  } rows[] = {{3us, 255}, {7us, 142}, {30us, 33}, {90us, 11}};
  for (auto [length, wait] : rows) {
    CAPTURE(length.count());
    CHECK(waits_of(length) == std::vector<int>(3, wait));
  }
}

TEST_CASE("where eight tasks take longer than a millisecond, the clock decides") {
  struct {
    std::chrono::nanoseconds length;
    int wait;
  } rows[] = {{150us, 7}, {400us, 3}};
  for (auto [length, wait] : rows) {
    CAPTURE(length.count());
    CHECK(waits_of(length) == std::vector<int>(3, wait));
  }
}

TEST_CASE("of long tasks every second one is the executor's own") {
  CHECK(waits_of(20ms) == std::vector<int>(3, 2));
}

TEST_CASE("the first interval is 20 tasks") {
  executor_pool pool{stepped(1)};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 100; ++i)
      self.push_back(task::make([&](executor&) { order += 'o'; }));
    on_another_thread([&] { CHECK(pool.submit(task::make([&](executor&) { order += 'x'; }))); });
  })));
  pool.run_until_idle();
  CHECK(order.find('x') == 19); // the first of the 20 is the one that made the others
}

TEST_CASE("what is addressed to an executor and its ring take turns") {
  executor_pool pool{stepped(1)};
  std::string order;
  std::vector<inbox_node> letters(4);
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (auto& letter : letters) {
      letter.item = task::make([&](executor&) { order += 'l'; });
      self.push_back(task::make([&](executor&) { order += 'r'; }));
    }
    self.push_back(task::make([&](executor&) { order += 'r'; }));
    // Two that are its own already, two that are on their way.
    self.push_pinned(letters[0]);
    self.push_pinned(letters[1]);
    on_another_thread([&] {
      self.deliver(letters[2]);
      self.deliver(letters[3]);
    });
  })));
  pool.run_until_idle();
  CHECK(order == "rlrlrlrlr");
}

TEST_CASE("a tick ends after 128 items if no time passes") {
  auto config = stepped(1);
  config.newest_ops = &task::ops;
  executor_pool pool{config};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 250; ++i)
      self.push_back(task::make([&](executor& e) {
        order += 'o';
        e.push_newest(task::make([&](executor&) { order += 'n'; }));
      }));
  })));
  pool.run_until_idle();
  // Three times a tick the newest item goes first; the first tick's first item made the others.
  CHECK(order.substr(0, 127 + 128)
        == "ononon" + std::string(121, 'o') + "nonon" + std::string(123, 'o'));
}

TEST_CASE("while nothing waits behind it the newest item always goes first") {
  auto config = stepped(1);
  config.newest_ops = &task::ops;
  executor_pool pool{config};
  int turns = 0;
  std::function<void(executor&)> ping = [&](executor& self) {
    if (++turns < 50)
      self.push_newest(task::make(ping));
  };
  REQUIRE(pool.submit(task::make(ping)));
  pool.run_until_idle();
  CHECK(turns == 50);
  CHECK(pool.at(0).stats().lifo_hits == 49);
}

TEST_CASE("the newest item that has had its turns waits behind the ring") {
  auto config = stepped(1);
  config.newest_ops = &task::ops;
  executor_pool pool{config};
  std::string order;
  std::function<void(executor&)> ping = [&](executor& self) {
    order += 'n';
    if (order.size() < 8)
      self.push_newest(task::make(ping));
  };
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 2; ++i)
      self.push_back(task::make([&](executor&) { order += 'o'; }));
    self.push_newest(task::make(ping));
  })));
  pool.run_until_idle();
  CHECK(order == "nnnoonnn");
}

TEST_CASE("messages that go round many actors come to each other, and go on together") {
  constexpr std::size_t nodes = 200;
  constexpr std::size_t messages = 5;
  struct node {
    recurring turn;
    int messages = 0;
  };
  auto config = stepped(1);
  config.newest_ops = &recurring::ops;
  executor_pool pool{config};
  std::array<node, nodes> ring;
  bool goes_on = true;
  for (std::size_t i = 0; i < nodes; ++i)
    ring[i].turn.body = [&, i](executor& self) {
      auto& next = ring[(i + 1) % nodes];
      const int had = std::exchange(next.messages, next.messages + ring[i].messages);
      ring[i].messages = 0;
      if (had == 0 && goes_on)
        self.push_newest(next.turn.item());
    };
  for (std::size_t i = 0; i < messages; ++i) {
    auto& begins = ring[i * nodes / messages];
    begins.messages = 1;
    REQUIRE(pool.submit(begins.turn.item()));
  }
  for (std::uint32_t i = 0; i < executor::ticks_to_unlimited * executor::budget_per_tick; ++i)
    pool.step(0);
  std::size_t at_nodes = 0;
  for (const auto& each : ring)
    at_nodes += each.messages > 0 ? 1 : 0;
  CHECK(at_nodes == 1);
  goes_on = false;
  pool.run_until_idle();
}

TEST_CASE("an item of another kind than the newest slot's goes to the ring") {
  static constexpr work_ops others{task::ops.run, task::ops.discard};
  auto config = stepped(1);
  config.newest_ops = &others;
  executor_pool pool{config};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    auto newest = task::make([&](executor&) { order += 'n'; });
    newest.ops = &others;
    self.push_newest(newest);
    self.push_back(task::make([&](executor&) { order += 'a'; }));
    self.push_newest(task::make([&](executor&) { order += 'b'; }));
    CHECK(self.num_waiting() == 3);
  })));
  pool.run_until_idle();
  CHECK(order == "nab");
}

TEST_CASE("of the injection queue an executor with work of its own takes one item") {
  executor_pool pool{stepped(1)};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 100; ++i)
      self.push_back(task::make([&](executor&) { order += 'o'; }));
    on_another_thread([&] {
      for (int i = 0; i < 3; ++i)
        CHECK(pool.submit(task::make([&](executor&) { order += 'x'; })));
    });
  })));
  pool.run_until_idle();
  const std::string own(19, 'o');
  CHECK(order.substr(0, 60) == own + 'x' + own + 'x' + own + 'x');
  CHECK(pool.at(0).stats().injection_batches == 4);
}

TEST_CASE("work that has yielded goes on after what came from outside, before theft") {
  executor_pool pool{stepped(2)};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 2; ++i)
      self.push_back(task::make([&](executor&) { order += 'o'; }));
  })));
  REQUIRE(pool.step(1));
  REQUIRE(pool.submit(task::make([&](executor& self) {
    on_another_thread([&] { CHECK(pool.submit(task::make([&](executor&) { order += 'x'; }))); });
    self.yield();
    order += 'y';
  })));
  for (int i = 0; i < 3; ++i)
    pool.step(0);
  CHECK(order == "xyo");
  pool.run_until_idle();
}

TEST_CASE("what waits is known to the running work") {
  auto config = stepped(1);
  config.newest_ops = &task::ops;
  executor_pool pool{config};
  inbox_node first, second;
  int checked = 0;
  // Each source alone, one after the other.
  std::vector<std::function<void(executor&)>> sources{
    [](executor& e) { e.push_newest(task::make([](executor&) {})); },
    [&](executor& e) {
      first.item = task::make([](executor&) {});
      e.push_pinned(first);
    },
    [&](executor& e) {
      second.item = task::make([](executor&) {});
      on_another_thread([&] { e.deliver(second); });
    },
    [](executor& e) { e.push_back(task::make([](executor&) {})); },
    [&](executor&) {
      on_another_thread([&] { CHECK(pool.submit(task::make([](executor&) {}))); });
    },
  };
  for (std::size_t i = 0; i < sources.size(); ++i) {
    REQUIRE(pool.submit(task::make([&](executor& self) {
      CHECK_FALSE(self.work_waits());
      sources[i](self);
      CAPTURE(i);
      CHECK(self.work_waits());
      CHECK(self.work_waits_for_siblings() == (i >= 3)); // only a ring and what came from outside
      ++checked;
    })));
    pool.run_until_idle();
  }
  CHECK(checked == 5);
}

TEST_CASE("work that has yielded waits, too") {
  executor_pool pool{stepped(1)};
  int checked = 0;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_back(task::make([&](executor& e) {
      CHECK(e.work_waits());
      CHECK_FALSE(e.work_waits_for_siblings());
      ++checked;
    }));
    self.yield();
    CHECK_FALSE(self.work_waits());
    ++checked;
  })));
  pool.run_until_idle();
  CHECK(checked == 2);
}

TEST_CASE("after a task from outside, own work has a turn as long, of ten milliseconds at most") {
  // Behind short ones the interval decides: never two from outside in a row.
  const auto [length, looks, turn] = GENERATE(table<std::chrono::milliseconds, bool, int>({
    {1ms, true, 1}, // looks at the time, as actors and computations do
    {1ms, false, 2},
    {5ms, true, 5},
    {5ms, false, 5},
    {1s, true, 10},
    {1s, false, 10},
  }));
  executor_pool pool{stepped(1)};
  const auto takes = [does_look = looks](executor& self, std::chrono::nanoseconds time) {
    pass(time);
    if (does_look)
      self.look(self.now());
  };
  int own_tasks = 0;
  int from_outside = 0;
  std::function<void(executor&)> own = [&](executor& self) {
    takes(self, 1100us);
    ++own_tasks;
    if (from_outside < 2)
      self.push_back(task::make(own));
  };
  REQUIRE(pool.submit(task::make(own)));
  for (int i = 0; i < 400; ++i) // the executor learns how long they take
    pool.step(0);
  for (int i = 0; i < 2; ++i)
    REQUIRE(pool.submit(task::make([&](executor& self) {
      takes(self, length);
      if (++from_outside == 1)
        own_tasks = 0;
    })));
  while (from_outside < 2)
    pool.step(0);
  CHECK(own_tasks == turn);
  pool.run_until_idle();
}
