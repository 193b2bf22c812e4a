// Thefts of items: which ones, how many, and which ones stay with their owner; and the fate of
// items for which a ring has no room.

#include "stepped_pool.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

/// Executors 0 and 1 with `count` items in the ring of 0; a thief waits for 100 us.
struct patient_pool {
  explicit patient_pool(int count, std::chrono::nanoseconds patience = 100us)
    : patient_pool{count, config_of(patience)} {
  }

  /// @param before the time of each item that executor 0 has run before, in so many `ticks`
  patient_pool(int count, const pool_config& config, std::chrono::nanoseconds before = 0ns,
               int ticks = 2)
    : pool{config} {
    pool.run_until_idle();
    for (int i = 0; before > 0ns && i < ticks; ++i)
      run_some(before);
    if (!pool.submit(task::make([this, count](executor& self) {
          for (int i = 0; i < count; ++i)
            add_item(self);
        })))
      throw std::logic_error("the pool was stopped");
    pool.step(0);
    restless_clock::readings = 0;
    restless_clock::action_at = -1;
  }

  ~patient_pool() {
    restless_clock::action_at = -1;
  }

  /// Executor 0 runs three items that take `each`, until its tick ends.
  void run_some(std::chrono::nanoseconds each) {
    for (int i = 0; i < 3; ++i)
      if (!pool.submit(task::make([each](executor&) { pass(each); })))
        throw std::logic_error("the pool was stopped");
    while (pool.step(0)) {
    }
    pool.run_until_idle();
  }

  /// For each that the owner runs, it adds one.
  void add_item(executor& self) {
    self.push_back(task::make([this](executor& e) {
      e.look(e.now());
      ran += e.index() == 1 ? 's' : 'o';
      if (owner_goes_on && e.index() == 0)
        add_item(e);
    }));
  }

  /// While `owner_goes_on`, the owner runs an item whenever the clock was read `every` times.
  void let_owner_run(
    int every, std::function<void()> besides = [] {}) {
    owner_goes_on = true;
    restless_clock::action = [this, every, besides = std::move(besides)] {
      pool.step(0);
      besides();
      restless_clock::action_at = owner_goes_on ? restless_clock::readings + every : -1;
    };
    restless_clock::action_at = every;
  }

  static pool_config config_of(std::chrono::nanoseconds patience) {
    auto config = stepped(2);
    config.simulate.ticks = &restless_clock::read;
    config.steal_after = patience;
    return config;
  }

  std::uint64_t stolen() const {
    return pool.at(1).stats().tasks_stolen;
  }

  std::string ran; // items that are left run when the pool goes
  bool owner_goes_on = false;
  executor_pool pool;
};

} // namespace

TEST_CASE("a thief takes the older half, runs one and keeps the others in its ring") {
  executor_pool pool{stepped(2)};
  std::vector<int> order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 9; ++i)
      self.push_back(task::make([&, i](executor&) { order.push_back(i); }));
  })));
  pool.step(0);
  CHECK(pool.step(1));
  CHECK(order == std::vector<int>{4}); // the last of the older half
  CHECK(pool.at(1).stats().tasks_stolen == 5);
  CHECK(pool.at(1).num_waiting() == 4);
  CHECK(pool.at(0).num_waiting() == 4);
  CHECK(pool.step(1));
  CHECK(pool.step(0));
  CHECK(order == std::vector<int>{4, 0, 5});
  pool.run_until_idle();
  CHECK(order.size() == 9);
  CHECK(pool.at(0).stats().overflows == 0);
}

TEST_CASE("what is addressed to an executor, newest or yielded is not stolen") {
  auto config = stepped(2);
  config.newest_ops = &task::ops;
  executor_pool pool{config};
  inbox_node letter{nullptr, task::make([](executor&) {})};
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_pinned(letter);
    self.push_newest(task::make([](executor& e) { e.yield(); }));
  })));
  CHECK(pool.step(0));
  CHECK_FALSE(pool.step(1));
  CHECK(pool.step(0)); // the newest one, which yields to the letter
  CHECK_FALSE(pool.step(1));
  pool.run_until_idle();
  CHECK(pool.at(1).stats().tasks_run == 0);
}

TEST_CASE("thieves begin at a random victim, not always at the same") {
  // Executors 0 and 1 have an item each; executor 2 takes one. Which one, the seed says.
  std::array<int, 2> taken_from{};
  for (std::uint64_t seed = 1; seed <= 32; ++seed) {
    executor_pool pool{stepped(3, seed)};
    for (std::size_t i = 0; i < 2; ++i) {
      REQUIRE(pool.submit(task::make([&, i](executor& self) {
        self.push_back(task::make([&, i](executor& e) {
          if (e.index() == 2)
            ++taken_from[i];
        }));
      })));
      CHECK(pool.step(i));
    }
    CHECK(pool.step(2));
  }
  CHECK(taken_from[0] + taken_from[1] == 32);
  CHECK(taken_from[0] >= 5);
  CHECK(taken_from[1] >= 5);
}

TEST_CASE("an executor steals before it takes background work") {
  executor_pool pool{stepped(2)};
  auto& source = static_cast<pieces&>(pool.adopt_background(std::make_unique<pieces>()));
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_back(task::make([&](executor&) { order += 's'; }));
    source.add(task::make([&](executor&) { order += 'b'; }));
  })));
  CHECK(pool.step(0));
  CHECK(pool.step(1));
  CHECK(order == "s");
  CHECK(pool.step(1));
  CHECK(order == "sb");
}

// -- a full ring ----------------------------------------------------------------

TEST_CASE("a full ring gives its older half to the injection queue") {
  executor_pool pool{stepped(1)};
  std::vector<int> order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 256; ++i)
      self.push_back(task::make([&, i](executor&) { order.push_back(i); }));
    CHECK(self.num_waiting() == 256);
    CHECK(self.stats().overflows == 0);
    self.push_back(task::make([&](executor&) { order.push_back(256); }));
    CHECK(self.num_waiting() == 129);
    CHECK(self.stats().overflows == 1);
    CHECK(pool.num_runnable() == 257 + 1);
  })));
  pool.run_until_idle();
  REQUIRE(order.size() == 257);
  CHECK(order[0] == 128); // the oldest that is left in the ring
  CHECK(order[19] == 0);  // the 20th item with the one that made them: from the injection queue
  CHECK(order[39] == 1);
  std::sort(order.begin(), order.end());
  for (int i = 0; i < 257; ++i)
    CHECK(order[static_cast<std::size_t>(i)] == i);
}

// -- a thief's patience -----------------------------------------------------------

TEST_CASE("a thief leaves few short items to their owner for a while, then takes half of them") {
  patient_pool few{3};
  few.let_owner_run(2);
  const auto before = time_now;
  CHECK(few.pool.step(1));
  few.owner_goes_on = false;
  CHECK(few.stolen() == 2);
  CHECK(tick_clock::to_duration(time_now - before) >= 100us);
  CHECK(restless_clock::readings < 122);
}

TEST_CASE(
  "a thief takes from few items at once if those of their owner's last two ticks were long") {
  const auto least = executor::worth_a_theft;
  patient_pool few{3, patient_pool::config_of(100us), least};
  CHECK(few.pool.step(1));
  CHECK(few.stolen() == 2);
  CHECK(restless_clock::readings < 10);
  patient_pool shorter{3, patient_pool::config_of(100us), least / 2};
  CHECK(shorter.pool.step(1));
  CHECK(restless_clock::readings >= 10);
  patient_pool once{3, patient_pool::config_of(100us), 1ms, 1};
  CHECK(once.pool.step(1));
  CHECK(restless_clock::readings >= 10);
}

TEST_CASE("a thief does not take long items at once where their owner needs its CPU") {
  auto config = patient_pool::config_of(100us);
  config.spin = 0ns;
  patient_pool few{3, config, 1ms};
  CHECK(few.pool.step(1));
  CHECK(restless_clock::readings >= 10);
}

TEST_CASE("time spent waiting for others' items does not make an executor's own items long") {
  patient_pool few{0, 300us};
  inbox_node is_long{nullptr, task::make([](executor&) { pass(1ms); })};
  few.pool.at(1).deliver(is_long);
  while (few.pool.step(1)) { // until the tick ends, the first of two
  }
  inbox_node begins{nullptr, task::make([&](executor& self) {
                      for (int i = 0; i < 3; ++i)
                        few.add_item(self);
                    })};
  few.pool.at(0).deliver(begins);
  CHECK(few.pool.step(0));
  restless_clock::readings = 0;
  few.let_owner_run(2);
  CHECK(few.pool.step(1));
  few.owner_goes_on = false;
  REQUIRE(few.stolen() == 2);
  const auto bring = [&](int count) {
    return task::make([count](executor& self) {
      for (int i = 0; i < count; ++i)
        self.push_back(task::make([](executor&) {}));
    });
  };
  inbox_node more{nullptr, bring(12)};
  few.pool.at(1).deliver(more);
  while (few.pool.step(1)) { // until the tick ends
  }
  inbox_node last{nullptr, bring(3)};
  few.pool.at(1).deliver(last);
  CHECK(few.pool.step(1));
  restless_clock::readings = 0;
  CHECK(few.pool.step(0));
  CHECK(restless_clock::readings >= 10);
}

TEST_CASE("a thief takes items that would take their owner long") {
  struct {
    int count;
    int every; // us, for which their owner runs each, or 0: it is at another
    int taken;
  } const cases[] = {{31, 0, 16}, {1, 0, 1}, {31, 2, 16}, {2, 15, 1}};
  for (const auto& x : cases) {
    CAPTURE(x.count, x.every);
    patient_pool few{x.count};
    if (x.every != 0) {
      few.let_owner_run(x.every);
      restless_clock::action_at = 5; // soon after the thief has begun to wait
    }
    const auto before = time_now;
    CHECK(few.pool.step(1));
    few.owner_goes_on = false;
    CHECK(few.stolen() == static_cast<std::uint64_t>(x.taken));
    CHECK((few.ran.front() == 'o') == (x.every != 0));
    const auto waited = tick_clock::to_duration(time_now - before);
    CHECK(waited >= executor::between_looks);
    CHECK(waited < 30us);
  }
}

TEST_CASE("a thief that pauses in the kernel, since CPUs are few, judges by no shorter time") {
  auto config = patient_pool::config_of(100us);
  config.spin = 0ns;
  patient_pool few{31, config};
  const auto before = time_now;
  CHECK(few.pool.step(1));
  CHECK(few.stolen() == 16);
  CHECK(tick_clock::to_duration(time_now - before) >= executor::between_looks);
}

TEST_CASE("a thief takes from many items at once") {
  patient_pool many{32};
  CHECK(many.pool.step(1));
  CHECK(many.stolen() == 16);
  CHECK(restless_clock::readings < 10);
}

TEST_CASE("a thief without patience takes from few items at once") {
  patient_pool few{1, 0ns};
  CHECK(few.pool.step(1));
  CHECK(few.stolen() == 1);
  CHECK(restless_clock::readings < 20);
}

TEST_CASE("a thief that waits goes to what comes from outside or is addressed to it") {
  for (auto from_outside : {true, false}) {
    patient_pool few{3};
    int ran = 0;
    inbox_node letter{nullptr, task::make([&](executor&) { ++ran; })};
    few.let_owner_run(2, [&] {
      if (restless_clock::readings < 50)
        return;
      few.owner_goes_on = false; // what comes is left to the thief
      if (!from_outside)
        few.pool.at(1).deliver(letter);
      else if (!few.pool.submit(letter.item))
        throw std::logic_error("the pool was stopped");
    });
    CHECK(few.pool.step(1));
    few.owner_goes_on = false;
    CAPTURE(from_outside);
    CHECK(ran == 1);
    CHECK(few.stolen() == 0);
    CHECK(restless_clock::readings < 70);
    restless_clock::action_at = -1;
    if (!from_outside)
      CHECK(few.pool.step(1)); // then it steals after all
  }
}

TEST_CASE("the time that a thief has waited is not that of what it takes") {
  for (auto from_outside : {true, false}) {
    patient_pool few{2, 1ms}; // more than a quantum
    pass(10ms);               // executor 1 looks again only now
    few.let_owner_run(2, [&] {
      if (!from_outside || restless_clock::readings < 500)
        return;
      few.owner_goes_on = false; // what comes is left to the thief
      if (!few.pool.submit(task::make([](executor& e) { e.look(e.now()); })))
        throw std::logic_error("the pool was stopped");
    });
    CHECK(few.pool.step(1));
    few.owner_goes_on = false;
    CAPTURE(from_outside);
    CHECK(few.stolen() == (from_outside ? 0 : 1));
    CHECK(few.pool.at(1).stats().overruns == 0);
  }
}

TEST_CASE("an executor does not sleep beside few items, however patient it is") {
  patient_pool few{2, 1s};
  int ran = 0;
  inbox_node letter{nullptr, task::make([&](executor&) { ++ran; })};
  few.let_owner_run(2, [&] {
    if (restless_clock::readings < 50)
      return;
    few.owner_goes_on = false;
    few.pool.at(1).deliver(letter);
  });
  CHECK(few.pool.step(1));
  few.owner_goes_on = false;
  CHECK(ran == 1);
  CHECK(few.pool.at(1).stats().times_parked == 1); // before there was anything
}
