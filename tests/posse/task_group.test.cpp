// Task groups: what runs when, what a thief takes, whose exception comes out, and that nothing of a
// scope outlives it.

#include <basal/posse/task_group.hpp>

#include "stepped_runtime.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace basal;
using namespace basal::test;
using posse::member;
using posse::runtime;
using posse::task_group;
using posse::task_scope;

namespace {

posse::runtime_config config_of(std::size_t executors) {
  posse::runtime_config config;
  config.compute_executors = executors;
  config.quantum = posse::runtime_config::min_quantum;
  return config;
}

// Stands for an actor's handle.
struct caller {
  runtime* host;
};

// The nodes of a tree, each of which is found by a task of its own.
void explore(task_group& tasks, std::size_t node, std::vector<char>& seen) {
  for (auto child : {2 * node + 1, 2 * node + 2})
    if (child < seen.size())
      tasks.spawn([child, &seen](task_group& below) { explore(below, child, seen); });
  ++seen[node];
}

} // namespace

template <>
struct basal::posse::caller_traits<caller> {
  static runtime& runtime_of(const caller& c) {
    return *c.host;
  }
};

// The first test: once tasks have forked, which all groups remember, they are known to be unlike.
TEST_CASE("cheap tasks of one group say nothing of another's") {
  const auto group_of = [](member& m, std::size_t size, auto each) {
    task_scope(m, [&](task_group& tasks) {
      for (std::size_t i = 0; i < size; ++i)
        tasks.spawn(each);
    });
  };
  stepped_runtime one{by_worth(1)};
  started cheap{one, 0, [&](member& m) {
                  for (int i = 0; i < 10; ++i)
                    group_of(m, 3, [] { pass(10ns); });
                }};
  one.run_all();
  CHECK(cheap.has_ended());
  stepped_runtime two{by_worth(2)};
  started dear{two, 0, [&](member& m) {
                 group_of(m, 2, [](member& k) {
                   look(k);
                   pass(1ms);
                   look(k);
                 });
               }};
  two.run_all();
  CHECK(dear.has_ended());
  CHECK(two->stats().thefts == 1);
}

namespace {

/// Of two groups whose first task is short, thefts before the second one begins.
/// @param spawn_all adds the tasks; the second one is to call the function that it is given
template <class SpawnAll>
std::vector<std::uint64_t> thefts_in_groups(SpawnAll spawn_all) {
  stepped_runtime host{by_worth(2)};
  std::vector<std::uint64_t> thefts;
  started root{host, 0, [&](member& m) {
                 for (int group = 0; group < 2; ++group)
                   task_scope(m, [&](task_group& tasks) {
                     spawn_all(tasks, [&] { thefts.push_back(host->stats().thefts); });
                   });
               }};
  host.run_all();
  CHECK(root.has_ended());
  return thefts;
}

} // namespace

TEST_CASE("of tasks of one kind that are known to take long, some are given away at once") {
  CHECK(thefts_in_groups([](task_group& tasks, auto note) {
          for (int i = 0; i < 5; ++i)
            tasks.spawn([=] {
              if (i == 1)
                note();
              pass(i == 0 ? 0us : 30us);
            });
        })
        == std::vector<std::uint64_t>{0, 1});
}

TEST_CASE("of tasks of several kinds nothing is known") {
  CHECK(thefts_in_groups([](task_group& tasks, auto note) {
          tasks.spawn([] {});
          tasks.spawn([=] {
            note();
            pass(30us);
          });
          for (int i = 0; i < 3; ++i)
            tasks.spawn([] { pass(30us); });
        })
        == std::vector<std::uint64_t>{0, 0});
}

TEST_CASE("tasks run after the body, in order, and a task's own before the next one") {
  runtime rt{config_of(1)};
  std::string order;
  auto result = task_scope(rt, [&](task_group& tasks) {
    tasks.spawn([&](task_group& below) {
      below.spawn([&] { order += "b"; });
      below.spawn([&] { order += "c"; });
      order += "a";
    });
    tasks.spawn([&](member&) { order += "d"; });
    order += "body ";
    return 7;
  });
  CHECK(result == 7);
  CHECK(order == "body abcd");
}

TEST_CASE("wait() does what was spawned, and more may be spawned afterwards") {
  runtime rt{config_of(1)};
  std::string order;
  task_scope(caller{&rt}, [&](task_group& tasks) {
    tasks.wait();
    tasks.spawn([&] { order += "a"; });
    tasks.spawn([&] { order += "b"; });
    tasks.wait();
    order += "|";
    tasks.spawn([&] { order += "c"; });
    tasks.member().fork_merge([&] { order += "f"; }, [&] { order += "g"; });
  });
  CHECK(order == "ab|fgc");
}

TEST_CASE("a task that spawns into the group that it is of is told to take one of its own") {
  runtime rt{config_of(1)};
  const auto says = Catch::Contains("a task that spawns takes a group of its own");
  int done = 0;
  task_scope(rt, [&](task_group& tasks) {
    tasks.spawn([&] { tasks.spawn([&] { ++done; }); });
    CHECK_THROWS_WITH(tasks.wait(), says);
    tasks.spawn([&](task_group& own) { own.spawn([&] { tasks.wait(); }); });
    CHECK_THROWS_WITH(tasks.wait(), says);
    tasks.spawn([&] { ++done; });
  });
  CHECK(done == 1);
}

TEST_CASE("a branch on another thread that spawns into a group is told so, and nothing is lost") {
  runtime rt{config_of(1)};
  int done = 0;
  task_scope(rt, [&](task_group& tasks) {
    runtime other{config_of(1)};
    tasks.spawn([&] { ++done; });
    CHECK_THROWS_AS(other.offload([&](member&) { tasks.spawn([&] { ++done; }); }),
                    std::logic_error);
    CHECK_THROWS_AS(other.offload([&](member&) { tasks.wait(); }), std::logic_error);
  });
  CHECK(done == 1);
}

TEST_CASE("a group holds so many tasks at most") {
  runtime rt{config_of(1)};
  std::size_t done = 0;
  task_scope(rt, [&](task_group& tasks) {
    for (std::size_t i = 0; i < 3 * task_group::most_waiting; ++i) {
      tasks.spawn([&] { ++done; });
      REQUIRE(i + 1 - done <= task_group::most_waiting);
    }
  });
  CHECK(done == 3 * task_group::most_waiting);
}

TEST_CASE("tasks of any size and alignment keep what they hold") {
  struct alignas(256) page {
    std::array<std::uint64_t, 32> words;
  };
  runtime rt{config_of(1)};
  auto alive = std::make_shared<int>(0);
  for (std::uint64_t n : {1, 5, 8, 9, 40, 300}) { // within the group, and in more and more chunks
    std::uint64_t right = 0;
    task_scope(rt, [&](task_group& tasks) {
      for (std::uint64_t i = 0; i < n; ++i) {
        page p;
        p.words.fill(i);
        std::array<std::uint64_t, 500> large;
        large.fill(i);
        tasks.spawn([i, small = static_cast<char>(i), &right, held = alive] {
          right += small == static_cast<char>(i) ? 1u : 0u;
        });
        tasks.spawn([i, p, &right, held = alive] {
          right += reinterpret_cast<std::uintptr_t>(&p) % alignof(page) == 0
                       && std::count(p.words.begin(), p.words.end(), i) == 32
                     ? 1u
                     : 0u;
        });
        tasks.spawn([i, large, &right, held = alive] {
          right += std::count(large.begin(), large.end(), i) == 500 ? 1u : 0u;
        });
      }
    });
    CHECK(right == 3 * n);
    CHECK(alive.use_count() == 1);
  }
}

TEST_CASE("a task ends when it has run, not with its group") {
  runtime rt{config_of(1)};
  auto alive = std::make_shared<int>(0);
  std::string order;
  task_scope(rt, [&](task_group& tasks) {
    for (int i = 0; i < 3; ++i)
      tasks.spawn([&order, held = alive] { order += std::to_string(held.use_count()); });
    tasks.wait();
    CHECK(alive.use_count() == 1);
    CHECK(order == "432");
  });
}

TEST_CASE("a task that cannot be copied into a group leaves the others") {
  struct uncopied {
    uncopied() = default;
    uncopied(const uncopied&) {
      throw std::runtime_error("copy");
    }
    void operator()() const {
    }
  };
  runtime rt{config_of(1)};
  const uncopied bad;
  for (int n : {3, 8, 20}) { // the bad one is where the group has no more room, too
    std::string order;
    task_scope(rt, [&](task_group& tasks) {
      for (int i = 0; i < n; ++i)
        tasks.spawn([&] { order += 'a'; });
      CHECK_THROWS_WITH(tasks.spawn(bad), "copy");
      tasks.spawn([&] { order += 'b'; });
    });
    CHECK(order == std::string(static_cast<std::size_t>(n), 'a') + 'b');
  }
}

TEST_CASE("every task runs once, whoever steals, and forks if it likes") {
  for (std::size_t executors = 1; executors <= 4; ++executors) {
    runtime rt{config_of(executors)};
    for (std::size_t nodes : {0, 1, 2, 3, 100, 20'000}) {
      std::vector<char> seen(nodes, 0);
      if (nodes != 0)
        task_scope(rt, [&](task_group& tasks) { explore(tasks, 0, seen); });
      CHECK(std::accumulate(seen.begin(), seen.end(), std::size_t{0}) == nodes);
    }
    std::array<long, 50> sums{};
    rt.run([&](member& m) {
      task_scope(m, [&](task_group& tasks) {
        for (auto& sum : sums)
          tasks.spawn([&sum](member& k) {
            auto [a, b] = k.fork_merge([] { return 1l; }, [] { return 2l; });
            sum = a + b;
          });
      });
    });
    CHECK(std::accumulate(sums.begin(), sums.end(), 0l) == 150);
  }
}

TEST_CASE("a thief takes the later half of the tasks that have not begun") {
  stepped_runtime host{stepped(2)};
  std::string log;
  auto note = [&log](char task) {
    return [&log, task](member& m) { log += task + std::to_string(m.executor().index()) + ' '; };
  };
  started root{host, 0, [&](member& m) {
                 look(m);
                 task_scope(m, [&](task_group& tasks) {
                   tasks.spawn([&](member& k) { end_quantum(k); });
                   tasks.spawn([&](member& k) {
                     end_quantum(k);
                     note('b')(k);
                   });
                   for (char task : {'c', 'd', 'e', 'f'})
                     tasks.spawn(note(task));
                 });
               }};
  host.run(0);
  CHECK(host->stats().thefts == 1);
  CHECK(log == "b0 c0 d0 ");
  host.run(1);
  host.run(0);
  CHECK(log == "b0 c0 d0 e1 f1 ");
  CHECK(root.has_ended());
}

TEST_CASE("a thief does all tasks behind one that lasts, without its member") {
  stepped_runtime host{by_worth(2)};
  std::string log;
  started root{host, 0, [&](member& m) {
                 task_scope(m, [&](task_group& tasks) {
                   tasks.spawn([](member& k) {
                     look(k);
                     end_quantum(k);
                     let_thieves_begin(k);
                   });
                   for (int task = 0; task < 4; ++task)
                     tasks.spawn(
                       [&log](member& k) { log += std::to_string(k.executor().index()); });
                 });
               }};
  host.run(0);
  CHECK(host->stats().thefts == 1);
  host.run(1);
  CHECK(log == "1111");
  go_on();
  host.run_all();
  CHECK(root.has_ended());
  CHECK(log == "1111");
}

TEST_CASE("of two groups, the older one's tasks are stolen first") {
  stepped_runtime host{stepped(2)};
  std::string log;
  auto note = [&log](char task) {
    return [&log, task](member& m) { log += task + std::to_string(m.executor().index()) + ' '; };
  };
  started root{host, 0, [&](member& m) {
                 look(m);
                 task_scope(m, [&](task_group& tasks) {
                   tasks.spawn([&](task_group& below) {
                     below.spawn([&](member& k) {
                       end_quantum(k);
                       end_quantum(k);
                     });
                     below.spawn(note('x'));
                   });
                   tasks.spawn(note('y'));
                 });
               }};
  host.run(0);
  CHECK(log == "x0 ");
  host.run(1);
  host.run(0);
  CHECK(log == "x0 y1 ");
}

TEST_CASE("the first exception in the sequential order comes out, and all tasks are gone") {
  for (std::size_t executors : {1, 3}) {
    runtime rt{config_of(executors)};
    for (int failing = 0; failing < 40; failing += 3) {
      auto alive = std::make_shared<int>(0);
      std::string error;
      try {
        task_scope(rt, [&](task_group& tasks) {
          for (int i = 0; i < 40; ++i)
            tasks.spawn([=, held = alive](task_group& below) {
              for (int turn = 0; turn < 500 && executors != 1; ++turn)
                below.member().poll();
              if (i > failing)
                throw std::runtime_error("later");
              below.spawn([=] {
                if (i == failing)
                  throw std::runtime_error("first");
              });
            });
        });
      } catch (const std::runtime_error& e) {
        error = e.what();
      }
      CHECK(error == "first");
      CHECK(alive.use_count() == 1);
    }
  }
}

TEST_CASE("tasks that a thief was sent and has not begun when one fails are gone, too") {
  auto config = stepped(2);
  config.steal_by = posse::hysteresis::worth;
  stepped_runtime host{config};
  auto alive = std::make_shared<int>(0);
  auto ran = 0;
  started root{host, 0, [&](member& m) {
                 task_scope(m, [&](task_group& tasks) {
                   tasks.spawn([](member& k) {
                     look(k);
                     end_quantum(k);
                     throw std::runtime_error("first");
                   });
                   for (int i = 0; i < 5; ++i)
                     tasks.spawn([&ran, held = alive] { ++ran; });
                 });
               }};
  host.run(0);
  CHECK(root.error() == "first");
  CHECK(host->stats().taken_back == 1);
  CHECK(alive.use_count() == 1);
  host.run_all();
  CHECK(ran == 0);
}

TEST_CASE("an exception of the body drops what it spawned") {
  runtime rt{config_of(2)};
  auto alive = std::make_shared<int>(0);
  auto ran = false;
  CHECK_THROWS_AS(task_scope(rt,
                             [&](task_group& tasks) {
                               tasks.spawn([&ran, held = alive] { ran = true; });
                               throw std::logic_error("body");
                             }),
                  std::logic_error);
  CHECK_FALSE(ran);
  CHECK(alive.use_count() == 1);
}

TEST_CASE("a cancelled scope ends, with tasks that would not") {
  runtime rt{config_of(3)};
  CHECK_THROWS_AS(task_scope(rt,
                             [&](task_group& tasks) {
                               for (int i = 0; i < 10; ++i)
                                 tasks.spawn([](member& m) {
                                   for (;;)
                                     m.poll();
                                 });
                               rt.cancel();
                             }),
                  posse::cancelled);
}
