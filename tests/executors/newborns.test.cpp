// The order of first turns: those of actors that were just spawned. One piece: one choice, of what
// an executor takes next, decides all of it, so a case about one queue of newborns is one about
// the others.

#include "stepped_pool.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <array>
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

TEST_CASE("newborns wait for all that have begun") {
  executor_pool pool{with_slot(1)};
  std::string order;
  std::array<inbox_node, 3> letters;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 4; ++i)
      self.push_newborn(task::make([&](executor&) { order += 'n'; }));
    self.push_newest(task::make([&](executor&) { order += 's'; }));
    self.push_back(task::make([&](executor&) { order += 'r'; }));
    for (auto& letter : letters) {
      letter.item = task::make([&](executor&) { order += 'a'; });
      self.push_pinned(letter);
    }
    for (int i = 0; i < 9; ++i)
      self.push_back(task::make([&](executor&) { order += 'r'; }));
  })));
  pool.run_until_idle();
  CHECK(order.size() == 18);
  CHECK(order.starts_with('s'));
  CHECK(order.ends_with("nnnn"));
}

TEST_CASE("newborns wait for what is addressed to their executor") {
  executor_pool pool{with_slot(1)};
  std::string order;
  std::array<inbox_node, 3> letters;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newborn(task::make([&](executor&) { order += 'n'; }));
    self.push_newest(task::make([](executor&) {}));
    for (auto& letter : letters) {
      letter.item = task::make([&](executor&) { order += 'a'; });
      self.push_pinned(letter);
    }
  })));
  pool.run_until_idle();
  CHECK(order == "aaan");
}

TEST_CASE("newborns wait for what has begun at another executor until it is worth a theft") {
  auto config = with_slot(2);
  config.simulate.ticks = &restless_clock::read;
  config.steal_after = 1ms;
  executor_pool pool{config};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (const char name : {'0', '1', '2', '3'})
      self.push_newborn(task::make([&, name](executor&) { order += name; }));
    self.push_newborn(task::make([&](executor& next) { // stays in the slot
      order += '4';
      for (const char name : {'q', 'r'})
        next.push_back(task::make([&, name](executor& e) {
          order += name;
          if (name == 'r') // the wait was none of its time
            CHECK(tick_clock::to_duration(time_now - e.last_look()) < executor::between_looks);
        }));
    }));
  })));
  CHECK(pool.step(0));
  CHECK(pool.step(1));
  CHECK(order == "1"); // and has '0'
  CHECK(pool.step(0));
  // While it waits, the other one goes on, but not fast enough.
  restless_clock::action = [&] { pool.step(0); };
  restless_clock::action_at = restless_clock::readings + 3;
  const auto before = time_now;
  CHECK(pool.step(1));
  CHECK(order == "14qr");
  const auto waited = tick_clock::to_duration(time_now - before);
  CHECK(waited >= executor::worth_a_theft);
  CHECK(waited < 2 * executor::worth_a_theft);
  CHECK(pool.step(1));
  CHECK(order == "14qr0");
  pool.run_until_idle();
}

TEST_CASE("an executor with nothing but newborns looks at another one now and then") {
  auto config = with_slot(2);
  config.simulate.ticks = &restless_clock::read;
  config.steal_after = 1ms;
  executor_pool pool{config};
  std::string order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (const char name : {'0', '1', '2', '3', '4', '5', '6'})
      self.push_newborn(task::make([&, name](executor& e) {
        order += name;
        if (name == '1') {
          pass(executor::between_newborn_looks);
          e.look(time_now);
        }
      }));
    self.push_newborn(task::make([&](executor& next) { // stays in the slot
      next.push_back(task::make([&](executor&) { order += 'r'; }));
    }));
  })));
  CHECK(pool.step(0));
  CHECK(pool.step(1)); // takes four
  CHECK(pool.step(1)); // has looked: nothing waits
  CHECK(order == "32");
  CHECK(pool.step(0));
  CHECK(pool.step(1)); // does not look again so soon
  CHECK(order == "321");
  CHECK(pool.step(1));
  CHECK(order == "321r");
  pool.run_until_idle();
}

TEST_CASE("an executor with nothing but newborns looks at one after the other") {
  auto config = with_slot(3);
  config.simulate.ticks = &restless_clock::read;
  config.steal_after = 1ms;
  executor_pool pool{config};
  pool.run_until_idle();
  std::string order;
  inbox_node begins{nullptr, task::make([&](executor& self) {
                      self.push_back(task::make([&](executor&) { order += 'r'; }));
                    })};
  inbox_node spawns{nullptr, task::make([&](executor& self) {
                      for (const char name : {'a', 'b', 'c'})
                        self.push_newborn(task::make([&, name](executor& e) {
                          order += name;
                          pass(executor::between_newborn_looks);
                          e.look(time_now);
                        }));
                      self.push_newest(task::make([](executor&) {}));
                    })};
  pool.at(1).deliver(begins);
  CHECK(pool.step(1));
  pool.at(2).deliver(spawns);
  CHECK(pool.step(2));
  CHECK(pool.step(2)); // the slot
  CHECK(pool.step(2)); // looks at 0
  CHECK(order == "c");
  CHECK(pool.step(2)); // looks at 1
  CHECK(order == "cr");
  pool.run_until_idle();
}

namespace {

struct watch {
  std::uint64_t taken;
  int readings; ///< of the clock, by a microsecond each, until the thief has an item
};

/// Executor 1 looks for work while newborns wait at 0, which runs `meanwhile` once in 2 us.
watch theft_of_newborns(pool_config config, void (*meanwhile)(executor&)) {
  config.simulate.ticks = &restless_clock::read;
  config.steal_after = 100us;
  executor_pool pool{config};
  pool.run_until_idle();
  inbox_node spawns{nullptr, task::make([meanwhile](executor& self) {
                      for (int i = 0; i < 3; ++i)
                        self.push_newborn(nothing_special());
                      self.push_newest(nothing_special());
                      if (meanwhile != nullptr)
                        meanwhile(self);
                    })};
  pool.at(0).deliver(spawns);
  CHECK(pool.step(0));
  CHECK(pool.step(0)); // the slot
  std::array<inbox_node, 60> letters;
  if (meanwhile != nullptr)
    for (auto& letter : letters) {
      letter.item = task::make(meanwhile);
      pool.at(0).deliver(letter);
    }
  restless_clock::readings = 0;
  restless_clock::action = [&] {
    pool.step(0);
    restless_clock::action_at = restless_clock::readings + 2;
  };
  restless_clock::action_at = meanwhile != nullptr ? 2 : -1;
  CHECK(pool.step(1));
  restless_clock::action_at = -1;
  const watch result{pool.at(1).stats().tasks_stolen, restless_clock::readings};
  pool.run_until_idle();
  return result;
}

/// In us: under a simulated clock no line is measured.
constexpr auto time_of_move = static_cast<int>(executor::worth_a_theft / 1us);

} // namespace

TEST_CASE("a thief takes newborns without which their executor goes on for the time of a move") {
  const auto seen = theft_of_newborns(with_slot(2), [](executor&) {});
  CHECK(seen.taken == 2);
  CHECK(seen.readings >= time_of_move);
  CHECK(seen.readings < 2 * time_of_move);
}

TEST_CASE("a thief leaves newborns to an executor where others wait, too") {
  const auto seen
    = theft_of_newborns(with_slot(2), [](executor& self) { self.push_back(nothing_special()); });
  CHECK(seen.readings > 2 * time_of_move);
}

TEST_CASE("newborns behind one and the same item are judged by how long it lasts") {
  CHECK(theft_of_newborns(with_slot(2), nullptr).readings
        > time_of_move + executor::between_looks / 1us);
}

TEST_CASE("a thief does not watch newborns where their executor needs its CPU") {
  auto config = with_slot(2);
  config.spin = 0ns;
  CHECK(theft_of_newborns(config, [](executor&) {}).readings > 2 * time_of_move);
}

TEST_CASE("newborns have a turn for four others where those go on for ten milliseconds") {
  executor_pool pool{with_slot(1)};
  std::string order;
  std::function<void(executor&)> recurring = [&](executor& self) {
    order += 'r';
    pass(1ms);
    self.look(time_now);
    if (order.size() < 40)
      self.push_back(task::make(recurring));
  };
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 3; ++i)
      self.push_newborn(task::make([&](executor&) { order += 'n'; }));
    self.push_newest(task::make([](executor&) {}));
    for (int i = 0; i < 2; ++i)
      self.push_back(task::make(recurring));
  })));
  pool.run_until_idle();
  const auto first = order.find('n');
  REQUIRE(first >= 10);
  REQUIRE(first <= 16);
  CHECK(order.substr(first, 11) == "nrrrrnrrrrn");
}

TEST_CASE("where addressed work goes on for ten milliseconds, newborns have a turn beside it") {
  executor_pool pool{with_slot(1)};
  std::string order;
  std::array<inbox_node, 60> letters;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newborn(task::make([&](executor&) { order += 'n'; }));
    self.push_newest(task::make([](executor&) {}));
    for (auto& letter : letters) {
      letter.item = task::make([&](executor& e) {
        order += 'a';
        pass(1ms);
        e.look(time_now);
      });
      self.push_pinned(letter);
    }
  })));
  pool.run_until_idle();
  CHECK(order.find('n') >= 10);
  CHECK(order.find('n') <= 20);
}

TEST_CASE("newborns wait again once nothing else has waited") {
  executor_pool pool{with_slot(1)};
  std::string order;
  const auto spawn = [](executor& self, std::function<void(executor&)> body) {
    self.push_newborn(task::make(std::move(body)));
    self.push_newest(task::make([](executor&) {}));
  };
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 15; ++i)
      self.push_back(task::make([](executor& e) {
        pass(1ms);
        e.look(time_now);
      }));
    // The first has its turn for the four before, and the second one after all others.
    self.push_back(task::make([&](executor& e) { spawn(e, [](executor&) {}); }));
    self.push_back(task::make([&](executor& e) {
      spawn(e, [&](executor& second) {
        spawn(second, [&](executor&) { order += 'n'; });
        for (int i = 0; i < 10; ++i)
          second.push_back(task::make([&](executor&) { order += 'r'; }));
      });
    }));
  })));
  pool.run_until_idle();
  CHECK(order == "rrrrrrrrrrn");
}

TEST_CASE("time in which nothing has waited is none in which newborns have") {
  executor_pool pool{with_slot(1)};
  std::string order;
  const auto spawn = [&](executor& self) {
    self.push_newborn(task::make([&](executor&) { order += 'n'; }));
    self.push_newest(task::make([](executor&) {}));
    for (int i = 0; i < 10; ++i)
      self.push_back(task::make([&](executor&) { order += 'r'; }));
    pass(1ms); // a tick ends
    self.look(time_now);
  };
  int milliseconds = 0;
  std::function<void(executor&)> alone = [&](executor& self) {
    pass(1ms);
    self.look(time_now);
    const bool is_last = ++milliseconds == 15;
    on_another_thread([&] { CHECK(pool.submit(task::make(is_last ? spawn : alone))); });
  };
  REQUIRE(pool.submit(task::make(alone)));
  pool.run_until_idle();
  CHECK(order == "rrrrrrrrrrn");
}

TEST_CASE("time asleep is none in which newborns have waited") {
  executor_pool pool{with_slot(1)};
  pool.run_until_idle();
  pass(1s);
  std::string order;
  inbox_node letter{nullptr, task::make([&](executor& self) {
                      self.push_newborn(task::make([&](executor&) { order += 'n'; }));
                      self.push_newest(task::make([](executor&) {}));
                      for (std::uint32_t i = 0; i < executor::budget_per_tick + 10; ++i)
                        self.push_back(task::make([&](executor&) { order += 'r'; }));
                    })};
  auto* idle = pool.claim_idle();
  REQUIRE(idle != nullptr);
  pool.deliver_claimed(*idle, letter);
  pool.run_until_idle();
  CHECK(order.find('n') == order.size() - 1);
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

TEST_CASE("newborns beyond 256 go to the nursery, and begin in order of age after what has begun") {
  executor_pool pool{with_slot(1)};
  std::vector<int> order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 1000; ++i)
      self.push_newborn(task::make([&, i](executor&) { order.push_back(i); }));
    self.push_newest(task::make([](executor&) {}));
    for (int i = 0; i < 200; ++i)
      self.push_back(task::make([&](executor&) { order.push_back(-1); }));
    CHECK(pool.num_runnable() == 1202); // with the executor that runs this
  })));
  pool.run_until_idle();
  CHECK(pool.at(0).stats().overflows > 0);
  REQUIRE(order.size() == 1200);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("a newborn in the nursery begins although a chain of newborns goes on") {
  executor_pool pool{with_slot(1)};
  int begun = 0;
  int turns = 0;
  std::function<void(executor&)> chain = [&](executor& self) {
    pass(100us);
    self.look(time_now);
    if (++turns < 1000)
      self.push_newborn(task::make(chain));
  };
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 300; ++i)
      self.push_newborn(task::make([&, i](executor& e) {
        ++begun;
        if (i == 63) // the last of the first batch
          chain(e);
      }));
  })));
  while (turns < 999)
    CHECK(pool.step(0));
  CHECK(begun > 64);
  turns = 0; // for the others
  pool.run_until_idle();
  CHECK(begun == 300);
}

TEST_CASE("the oldest newborns are in turn one of the nursery and one of the executor's own") {
  executor_pool pool{with_slot(1)};
  std::vector<int> order;
  int turns = 0;
  std::function<void(executor&)> fertile = [&](executor& self) {
    pass(1ms);
    self.look(time_now);
    if (++turns == 100 || order.size() >= 4)
      return;
    self.push_newborn(task::make(fertile));
    self.push_newborn(task::make([](executor&) {}));
  };
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newborn(task::make(fertile));
    for (int i = 1; i < 300; ++i)
      self.push_newborn(task::make([&, i](executor&) { order.push_back(i); }));
  })));
  pool.run_until_idle();
  REQUIRE(order.size() == 299);
  CHECK(order[0] == 64); // the first of those that are not among the first batch
  CHECK(order[1] == 63); // the bottom of that
  CHECK(order[2] == 65);
}

TEST_CASE("siblings that just fill the room of newborns twice are ordered") {
  executor_pool pool{with_slot(1)};
  std::vector<int> order;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 385; ++i) // the last one in the slot, 256 on the stack
      self.push_newborn(task::make([&, i](executor&) { order.push_back(i); }));
  })));
  pool.run_until_idle();
  REQUIRE(order.size() == 385);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("newborns that have waited in vain for ten milliseconds wait no longer") {
  auto config = with_slot(2);
  config.simulate.ticks = &restless_clock::read;
  config.steal_after = 1ms;
  executor_pool pool{config};
  pool.run_until_idle();
  constexpr auto turn = 1ms;
  inbox_node spawns{nullptr, task::make([&](executor& self) {
                      for (int i = 0; i < 20; ++i)
                        self.push_newborn(task::make([&](executor& e) {
                          pass(turn);
                          e.look(time_now);
                        }));
                    })};
  pool.at(1).deliver(spawns);
  CHECK(pool.step(1));
  std::vector<std::chrono::nanoseconds> waits;
  for (int i = 0; i < 18; ++i) {
    // Something waits at executor 0 whenever 1 looks, and is gone soon after.
    inbox_node begins{nullptr,
                      task::make([](executor& self) { self.push_back(nothing_special()); })};
    pool.at(0).deliver(begins);
    CHECK(pool.step(0));
    restless_clock::action = [&] { pool.step(0); };
    restless_clock::action_at = restless_clock::readings + 5;
    const auto before = time_now;
    CHECK(pool.step(1));
    waits.push_back(tick_clock::to_duration(time_now - before) - turn);
    restless_clock::action_at = -1;
    while (pool.at(0).num_waiting() > 0)
      pool.step(0);
  }
  CHECK(waits[3] >= executor::between_looks);
  CHECK(waits[17] < executor::between_looks);
  pool.run_until_idle();
}

TEST_CASE("executors share the nursery") {
  executor_pool pool{with_slot(4)};
  std::array<int, 4> begun{};
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 1000; ++i)
      self.push_newborn(task::make([&](executor& e) { ++begun[e.index()]; }));
  })));
  pool.run_until_idle();
  for (const auto number : begun)
    CHECK(number >= 64);
}

TEST_CASE("newborns in the nursery are discarded by a stop") {
  std::atomic<int> discarded{0};
  {
    executor_pool pool{with_slot(1)};
    REQUIRE(pool.submit(task::make([&](executor& self) {
      for (int i = 0; i < 1000; ++i)
        self.push_newborn(task::make([](executor&) {}, &discarded));
    })));
    CHECK(pool.step(0));
  }
  CHECK(discarded == 1000);
}

TEST_CASE("a newborn from outside waits in the injection queue") {
  executor_pool pool{with_slot(1)};
  bool ran = false;
  REQUIRE(pool.submit_newborn(task::make([&](executor&) { ran = true; })));
  pool.run_until_idle();
  CHECK(ran);
  CHECK(pool.at(0).stats().injection_hits == 1);
}

TEST_CASE("a newborn from outside begins after whom an earlier one has sent to") {
  executor_pool pool{with_slot(1)};
  std::string order;
  for (const char name : {'a', 'b'})
    REQUIRE(pool.submit_newborn(task::make([&, name](executor& self) {
      order += name;
      for (int i = 0; i < 3; ++i)
        self.push_back(task::make([&](executor&) { order += '.'; }));
    })));
  pool.run_until_idle();
  CHECK(order == "a...b...");
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
  // Two that meet: each runs until the other does.
  std::atomic<int> present{0};
  std::atomic<bool> met{false};
  executor_pool pool{config};
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
