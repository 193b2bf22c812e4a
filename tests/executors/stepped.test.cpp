// Stepped mode: no threads, a clock that the test moves, and the same run from the same seed.

#include <basal/executors/executors.hpp>

#include "stepped_pool.hpp"
#include "support/catch.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

// Every task makes two more until `depth`; what ran where is the result.
std::string trace_of(std::uint64_t seed) {
  executor_pool pool{stepped(3, seed)};
  std::string trace;
  std::function<void(executor&, int)> grow = [&](executor& self, int depth) {
    trace += static_cast<char>('0' + self.index());
    pass(10us);
    if (depth > 0)
      for (int i = 0; i < 2; ++i)
        self.push_back(task::make([&, depth](executor& e) { grow(e, depth - 1); }));
  };
  REQUIRE(pool.submit(task::make([&](executor& self) { grow(self, 6); })));
  CHECK(pool.run_until_idle() == 127);
  return trace;
}

} // namespace

TEST_CASE("a step runs one item of one executor") {
  executor_pool pool{stepped(2)};
  int ran = 0;
  for (int i = 0; i < 2; ++i)
    REQUIRE(
      pool.submit(task::make([&](executor& self) { ran += 1 + static_cast<int>(self.index()); })));
  CHECK(pool.step(1));
  CHECK(ran == 2);
  CHECK(pool.step(0));
  CHECK(ran == 3);
  CHECK_FALSE(pool.step(0));
  CHECK_FALSE(pool.step(1));
  CHECK(executor::current() == nullptr);
}

TEST_CASE("whoever submits work from outside runs it, where the pool says so") {
  auto config = stepped(2);
  config.simulate.caller_runs = true;
  executor_pool pool{config};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor&) {
    order += 'a';
    const bool taken = pool.submit(task::make([&](executor&) { order += 'c'; }));
    order += taken ? 'b' : 'x'; // from within, it waits for its turn
  })));
  CHECK(order == "abc");
  auto& source = static_cast<pieces&>(pool.adopt_background(std::make_unique<pieces>()));
  CHECK(
    pool.add_background([&] { return source.add(task::make([&](executor&) { order += 'd'; })); }));
  CHECK(order == "abcd");
  CHECK(executor::current() == nullptr);
}

TEST_CASE("the same seed gives the same run, and all executors take part") {
  const auto first = trace_of(7);
  CHECK(first.size() == 127);
  CHECK(first == trace_of(7));
  std::set<std::string> traces;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    traces.insert(trace_of(seed));
  CHECK(traces.size() == 8);
  for (const auto* executor : {"0", "1", "2"})
    CHECK(first.find(executor) != std::string::npos);
}

TEST_CASE("work that waits goes on when it is woken, on its own executor") {
  executor_pool pool{stepped(2)};
  completion event;
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    auto index = self.index();
    order += 'a';
    event.wait();
    order += executor::current()->index() == index ? 'c' : 'x';
  })));
  pool.run_until_idle();
  CHECK(order == "a");
  REQUIRE(pool.submit(task::make([&](executor&) {
    order += 'b';
    event.set();
  })));
  pool.run_until_idle();
  CHECK(order == "abc");
}

TEST_CASE("work that has yielded goes on after the others had a quantum") {
  executor_pool pool{stepped(1)};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 4; ++i)
      self.push_back(task::make([&](executor&) {
        order += 'o';
        pass(101us); // of a quantum of 200us
      }));
    self.yield();
    order += 'y';
  })));
  pool.run_until_idle();
  CHECK(order == "ooyoo");
}

TEST_CASE("more than a quantum between two looks is an overrun of the work that runs") {
  auto config = stepped(1);
  struct seen {
    int calls = 0;
    const void* object = nullptr;
    std::uint64_t ticks = 0;
  } overrun;
  config.hooks.context = &overrun;
  config.hooks.overran
    = [](void* context, executor&, work_item work, std::uint64_t ticks) noexcept {
        auto& s = *static_cast<seen*>(context);
        s = {s.calls + 1, work.object, ticks};
      };
  executor_pool pool{config};
  auto item = task::make([&](executor& self) {
    self.look(self.now());
    pass(200us);
    self.look(self.now());
    CHECK(overrun.calls == 0);
    pass(650us);
    self.look(self.now());
  });
  REQUIRE(pool.submit(item));
  pool.run_until_idle();
  CHECK(overrun.calls == 1);
  CHECK(overrun.object == item.object);
  CHECK(tick_clock::to_duration(overrun.ticks) > 640us);
  CHECK(pool.at(0).stats().overruns == 1);
  CHECK(pool.at(0).stats().overrun_quanta == 3);
}

TEST_CASE("what others run while work waits is not its overrun, nor is its own theirs") {
  executor_pool pool{stepped(1)};
  completion event;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.look(self.now());
    event.wait();
    self.look(self.now());
  })));
  pool.run_until_idle();
  REQUIRE(pool.submit(task::make([&](executor&) {
    pass(10ms); // without a look: nobody's affair here
    event.set();
  })));
  pool.run_until_idle();
  CHECK(pool.at(0).stats().overruns == 0);
}

TEST_CASE("work that runs for long and then waits has overrun") {
  executor_pool pool{stepped(1)};
  completion event;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.look(self.now());
    pass(1ms);
    event.wait();
  })));
  pool.run_until_idle();
  CHECK(pool.at(0).stats().overruns == 1);
  event.set();
  pool.run_until_idle();
  CHECK(pool.at(0).stats().overruns == 1);
}

TEST_CASE("while work is suspended, nobody is to raise its attention or to be told its name") {
  executor_pool pool{stepped(1)};
  auto& self = pool.at(0);
  completion event;
  REQUIRE(pool.submit(task::make([&](executor&) {
    auto* before = self.running().name_work("patient");
    self.attentive().store(true);
    event.wait();
    CHECK(self.attentive().load());
    CHECK(self.doing() == std::string{"patient"});
    self.attentive().store(false);
    self.running().name_work(before);
    CHECK(self.doing() == std::string{"a task"});
  })));
  pool.run_until_idle();
  CHECK(self.doing() == nullptr);
  REQUIRE(pool.submit(task::make([&](executor&) {
    CHECK_FALSE(self.attentive().load());
    CHECK(self.doing() != std::string{"patient"});
    event.set();
  })));
  CHECK(pool.run_until_idle() == 2);
}

TEST_CASE("attention stays raised until it is cleared") {
  executor_pool pool{stepped(1)};
  auto& self = pool.at(0);
  CHECK(self.attention().load() == 0);
  self.raise_attention();
  self.raise_attention();
  CHECK(self.attention().load() == std::numeric_limits<std::int32_t>::min());
  self.clear_attention();
  CHECK(self.attention().load() == 0);
}

TEST_CASE("an executor that runs half of the time has half a load") {
  executor_pool pool{stepped(1)};
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(pool.submit(task::make([](executor&) { pass(50us); })));
    pool.run_until_idle();
    pass(50us);
  }
  CHECK(pool.at(0).load() == Approx(0.5).margin(0.03));
  pass(100ms);
  CHECK(pool.at(0).load() < 0.01);
  CHECK(pool.at(0).stats().load_permille < 10);
}

TEST_CASE("who finds the injection queue full takes a fair share with one lock") {
  executor_pool pool{stepped(4)};
  int ran = 0;
  for (int i = 0; i < 100; ++i)
    REQUIRE(pool.submit(task::make([&](executor&) { ++ran; })));
  CHECK(pool.step(0));
  CHECK(ran == 1);
  CHECK(pool.at(0).stats().injection_hits == 25);
  CHECK(pool.at(0).stats().injection_batches == 1);
  pool.run_until_idle();
  CHECK(ran == 100);
}

TEST_CASE("what ran before the newest item is known while that runs") {
  auto config = stepped(1);
  config.newest_ops = &task::ops;
  executor_pool pool{config};
  std::uint64_t fed = 0, queued = 1;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newest(task::make([&](executor& e) { fed = e.feeder_ticks(); }));
    self.push_back(task::make([&](executor& e) { queued = e.feeder_ticks(); }));
    pass(3ms);
    self.look(self.now());
  })));
  pool.run_until_idle();
  CHECK(fed == tick_clock::to_ticks(3ms));
  CHECK(queued == 0);
}

TEST_CASE("the newest item goes first three times a tick, or always behind what is worth a theft") {
  auto config = stepped(1);
  config.newest_ops = &task::ops;
  // Tasks wait, some of which take no time, and each sends one more on its way.
  auto order_of = [&](std::chrono::nanoseconds length, int tasks = 10, int short_ones = 0) {
    executor_pool pool{config};
    std::string order;
    REQUIRE(pool.submit(task::make([&, length, tasks, short_ones](executor& self) {
      for (int i = 0; i < tasks; ++i)
        self.push_back(task::make([&, length = i < short_ones ? 0ns : length](executor& e) {
          order += 'o';
          e.push_newest(task::make([&](executor&) { order += 'n'; }));
          pass(length);
          e.look(e.now());
        }));
    })));
    pool.run_until_idle();
    return order;
  };
  CHECK(order_of(1us) == "onononooooooonnnnnnn");
  CHECK(order_of(10us) == "onononooooooonnnnnnn");
  CHECK(order_of(15us) == "onononononononononon");
  CHECK(order_of(15us, 10, 5)
        == "onononoo"
           "onononononnn"); // the three are spent
  // A tick ends after a millisecond.
  CHECK(order_of(9us, 120).substr(0, 122) == "ononon" + std::string(109, 'o') + "nonon" + "oo");
}

namespace {

/// The order of items 'n', each of which takes `length` and sends the next one, beside two others,
/// behind an item that takes `before`. Some, 'a', are addressed to the executor.
std::string order_of_chain(std::chrono::nanoseconds length, std::chrono::nanoseconds before,
                           std::size_t items, std::size_t addressed = 0) {
  auto config = stepped(1);
  config.newest_ops = &task::ops;
  executor_pool pool{config};
  std::vector<inbox_node> nodes(addressed);
  std::string order;
  const auto take = [](executor& self, std::chrono::nanoseconds time) {
    pass(time);
    self.look(self.now());
  };
  std::function<void(executor&)> chain = [&](executor& self) {
    order += 'n';
    take(self, length);
    if (order.size() < items)
      self.push_newest(task::make(chain));
  };
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newest(task::make(chain));
    for (int i = 0; i < 2; ++i)
      self.push_back(task::make([&](executor&) { order += 'o'; }));
    for (auto& node : nodes) {
      node.item = task::make([&](executor&) { order += 'a'; });
      self.push_pinned(node);
    }
    take(self, before);
  })));
  pool.run_until_idle();
  return order;
}

} // namespace

TEST_CASE("what long items of the slot send has three turns a tick, whatever came before them") {
  CHECK(order_of_chain(50us, 50us, 9) == "nnnnoonnn"); // the first one is none of the three
}

TEST_CASE("behind a long item the slot's have a turn as long as that, of 10 ms at most") {
  const auto turns = [](std::chrono::nanoseconds length, std::chrono::nanoseconds before) {
    return order_of_chain(length, before, 100).find('o');
  };
  CHECK(turns(10us, 90us) == 4); // that is not long
  CHECK(turns(10us, 395us) == 40);
  CHECK(turns(1200us, 40ms) == 9);
  CHECK(order_of_chain(10us, 400us, 100, 3).substr(0, 7) == "nananan"); // do not wait for its end
}

TEST_CASE("items that send the next one after a tick's time leave others their turns") {
  CHECK(order_of_chain(1ms, 0ns, 20).substr(0, 7) == "nnnnoon"); // the first tick has one item more
}

TEST_CASE("background work that has waited for long has a turn, and the rest a longer one") {
  auto config = stepped(1);
  config.background_after = 45ms;
  executor_pool pool{config};
  auto& source = static_cast<pieces&>(pool.adopt_background(std::make_unique<pieces>()));
  std::string order;
  std::function<void(executor&)> busy = [&](executor& self) {
    order += '.';
    pass(10ms);
    if (order.size() < 80)
      self.push_back(task::make(busy));
  };
  for (int i = 0; i < 5; ++i)
    CHECK(pool.add_background([&] {
      return source.add(task::make([&](executor&) {
        order += 'b';
        pass(10ms);
      }));
    }));
  REQUIRE(pool.submit(task::make(busy)));
  pool.run_until_idle();
  // After 45 ms; then after 20 times the 10 ms that each piece takes; at last what is left.
  const std::string rest(20, '.');
  CHECK(order.substr(0, 69) == ".....b" + rest + 'b' + rest + 'b' + rest + 'b');
  CHECK(order.back() == 'b');
  CHECK(pool.at(0).stats().background_turns == 4);
  CHECK(pool.at(0).stats().background_tasks == 5);
}

TEST_CASE("a task that steps aside when others wait does so for overdue background work") {
  auto config = stepped(1);
  config.background_after = 45ms;
  executor_pool pool{config};
  auto& source = static_cast<pieces&>(pool.adopt_background(std::make_unique<pieces>()));
  int steps = 0;
  int steps_before = 0;
  CHECK(source.add(task::make([&](executor&) { steps_before = steps; })));
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (; steps < 20; ++steps) {
      pass(10ms);
      if (self.work_waits())
        self.yield();
    }
  })));
  pool.run_until_idle();
  CHECK(steps == 20);
  CHECK(steps_before == 4); // 45 ms after the task began are over in the fifth
}

TEST_CASE("without a bound, background work waits until there is nothing else") {
  auto config = stepped(1);
  config.background_after = 0ns;
  executor_pool pool{config};
  auto& source = static_cast<pieces&>(pool.adopt_background(std::make_unique<pieces>()));
  std::string order;
  CHECK(source.add(task::make([&](executor&) { order += 'b'; })));
  for (int i = 0; i < 5; ++i)
    REQUIRE(pool.submit(task::make([&](executor&) {
      order += '.';
      pass(1h);
    })));
  pool.run_until_idle();
  CHECK(order == ".....b");
}

TEST_CASE("a stepped pool drains or discards when it stops") {
  for (auto mode : {stop_mode::drain, stop_mode::discard}) {
    std::atomic<int> discarded{0};
    int ran = 0;
    {
      executor_pool pool{stepped(2)};
      for (int i = 0; i < 10; ++i)
        REQUIRE(pool.submit(task::make([&](executor&) { ++ran; }, &discarded)));
      pool.step(0);
      pool.stop(mode);
    }
    CHECK(ran + discarded == 10);
    CHECK(ran == (mode == stop_mode::drain ? 10 : 1));
  }
}
