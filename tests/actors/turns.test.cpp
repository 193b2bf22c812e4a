// How long an actor may keep its executor, and what is said of those that keep it longer.

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/detail/scheduler.hpp>
#include <basal/actors/stats.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace std::chrono_literals;

using basal::actors::system_stats;

namespace {

void spin(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    // busy
  }
}

struct slow_state {
  const char* name = "slow";
};

caf::behavior slow(caf::stateful_actor<slow_state>* self) {
  return {[self](int us) {
    spin(std::chrono::microseconds{us});
    if (us == 0)
      self->quit();
  }};
}

struct one_executor : basal::actor_system_config {
  explicit one_executor(caf::timespan quantum) {
    set("basal.message-executors", std::size_t{1});
    set("basal.compute-executors", std::size_t{1});
    set("basal.quantum", quantum);
  }
};

// Runs the actors that `spawn` makes; they and the system are gone when it returns.
template <class Spawn>
void run_actors(caf::timespan quantum, system_stats& stats, Spawn spawn) {
  one_executor cfg{quantum};
  caf::actor_system system{cfg};
  spawn(system);
  system.await_all_actors_done();
  stats = basal::actors::stats_of(system);
}

// Waits for `quanta` of actors of that name: an executor looks at the clock after an actor's end,
// when nobody waits for the actor any more.
basal::actors::overrun_stats await_quanta(caf::actor_system& system, const std::string& name,
                                          std::uint64_t quanta) {
  for (;; std::this_thread::yield())
    for (const auto& one : basal::actors::stats_of(system).overruns)
      if (one.name == name && one.quanta >= quanta)
        return one;
}

} // namespace

TEST_CASE("a handler that outruns its quantum is counted with its actor's name") {
  one_executor cfg{caf::timespan{1ms}};
  caf::actor_system system{cfg};
  const auto actor = system.spawn(slow);
  for (int i = 0; i < 3; ++i)
    caf::anon_send(actor, 20'500);
  caf::anon_send(actor, 0);
  system.await_all_actors_done();
  const auto found = await_quanta(system, "slow", 59);
  CHECK(found.overruns >= 1); // looks come after up to three messages
  CHECK(found.longest_us >= 20'000);
  CHECK(found.quanta_on == std::vector{found.quanta}); // of one executor
  CHECK(basal::actors::stats_of(system).message_executors[0].overruns >= 1);
}

TEST_CASE("an actor that does all its work when it begins is counted, too") {
  one_executor cfg{caf::timespan{1ms}};
  caf::actor_system system{cfg};
  system.spawn([](caf::event_based_actor*) { spin(20ms); });
  system.await_all_actors_done();
  const auto found = await_quanta(system, "scheduled_actor", 19);
  CHECK(found.overruns == 1);
}

// Its beginning is its own: not that of the actor that runs next.
TEST_CASE("an actor that works when it begins and then waits is counted itself") {
  one_executor cfg{caf::timespan{1ms}};
  caf::actor_system system{cfg};
  auto next = system.spawn(slow);
  const auto beginner = system.spawn([](caf::event_based_actor*) -> caf::behavior {
    spin(20ms);
    return {[](int) {}};
  });
  caf::anon_send(next, 0);
  const auto found = await_quanta(system, "scheduled_actor", 19);
  CHECK(found.overruns == 1);
  caf::anon_send_exit(beginner, caf::exit_reason::user_shutdown);
  next = nullptr;
  system.await_all_actors_done();
}

// The first actor has work for a second; the second must not wait for its end. By count, not by
// time: between two messages of the second, the first may handle what fits into a quantum.
TEST_CASE("an actor with a full mailbox leaves the executor to others once a quantum") {
  constexpr int messages = 1000;
  int handled = 0;
  std::vector<int> seen;
  system_stats stats;
  run_actors(caf::timespan{1ms}, stats, [&](caf::actor_system& system) {
    const auto busy = system.spawn([&handled](caf::event_based_actor* self) -> caf::behavior {
      return {[&handled, self](int us) {
        spin(std::chrono::microseconds{us});
        if (++handled == messages)
          self->quit();
      }};
    });
    const auto watcher
      = system.spawn([&handled, &seen](caf::event_based_actor* self) -> caf::behavior {
          return {[&handled, &seen, self](int left) {
            seen.push_back(handled);
            if (left > 0)
              self->send(self, left - 1);
            else
              self->quit();
          }};
        });
    system.spawn([busy, watcher](caf::event_based_actor* self) {
      for (int i = 0; i < messages; ++i)
        self->send(busy, 1000);
      self->send(watcher, 20);
    });
  });
  REQUIRE(handled == messages);
  REQUIRE(seen.size() == 21);
  CHECK(seen.front() < messages / 2); // it did not wait for the end
  CHECK(stats.message_executors[0].quantum_ends > 100);
}

TEST_CASE("many short messages are handled in few turns") {
  constexpr int messages = 10'000;
  int handled = 0;
  system_stats stats;
  run_actors(caf::timespan{10ms}, stats, [&](caf::actor_system& system) {
    const auto receiver = system.spawn([&handled](caf::event_based_actor* self) -> caf::behavior {
      return {[&handled, self](int) {
        if (++handled == messages)
          self->quit();
      }};
    });
    system.spawn([receiver](caf::event_based_actor* self) {
      for (int i = 0; i < messages; ++i)
        self->send(receiver, i);
    });
  });
  CHECK(handled == messages);
  CHECK(stats.message_executors[0].tasks_run < messages / 10);
}

// By count: the end of a quantum only makes turns shorter.
TEST_CASE("with scheduler.max-throughput an actor handles no more messages in a row") {
  constexpr int messages = 60;
  int handled = 0;
  std::vector<int> seen;
  one_executor cfg{caf::timespan{10ms}};
  cfg.set("scheduler.max-throughput", std::size_t{5});
  caf::actor_system system{cfg};
  const auto busy = system.spawn([&handled](caf::event_based_actor* self) -> caf::behavior {
    return {[&handled, self](int) {
      if (++handled == messages)
        self->quit();
    }};
  });
  const auto watcher
    = system.spawn([&handled, &seen](caf::event_based_actor* self) -> caf::behavior {
        return {[&handled, &seen, self](int) {
          seen.push_back(handled);
          if (handled < messages)
            self->send(self, 0);
          else
            self->quit();
        }};
      });
  system.spawn([busy, watcher](caf::event_based_actor* self) {
    for (int i = 0; i < messages; ++i)
      self->send(busy, 0);
    self->send(watcher, 0);
  });
  system.await_all_actors_done();
  REQUIRE(handled == messages);
  CHECK(seen.size() >= messages / 5);
  for (std::size_t i = 1; i < seen.size(); ++i)
    CHECK(seen[i] - seen[i - 1] <= 5);
}

namespace {

/// Actors that exist. Of one executor's thread.
struct population {
  int present = 0;
  int most = 0;
};

struct node_state {
  const char* name = "node";
  population* all = nullptr;
  ~node_state() {
    --all->present;
  }
};

caf::behavior node(caf::stateful_actor<node_state>* self, int levels, population* all) {
  self->state.all = all;
  if (levels > 1)
    for (int i = 0; i < 2; ++i) {
      all->most = std::max(all->most, ++all->present);
      self->spawn(node, levels - 1, all);
    }
  return {}; // without behavior it ends
}

} // namespace

TEST_CASE("a tree of actors is gone through depth first") {
  population all{.present = 1, .most = 1};
  system_stats stats;
  run_actors(250us, stats, [&](caf::actor_system& system) { system.spawn(node, 12, &all); });
  CHECK(all.present == 0);
  CHECK(all.most < 1000); // 15, and more where it takes long: old ones have a turn now and then
}

TEST_CASE("an actor that has begun waits behind those that began before it") {
  std::string order; // of the one executor's thread
  {
    one_executor cfg{10ms};
    caf::actor_system system{cfg};
    caf::scoped_actor self{system};
    std::vector<caf::actor> all;
    for (char name = 'a'; name <= 'f'; ++name) {
      all.push_back(system.spawn([&order, name](caf::event_based_actor* one) -> caf::behavior {
        return {[&order, name](int) { order += name; },
                [&order, name, one](int, int) {
                  order += name;
                  one->quit();
                }};
      }));
      self->request(all.back(), caf::infinite, 0).receive([] {}, [](caf::error&) { FAIL(); });
    }
    order.clear();
    system.spawn([all](caf::event_based_actor* first) {
      for (const auto& one : all)
        first->send(one, 0, 0);
    });
  }
  CHECK(order == "fabcde"); // the last one is in the newest-first slot
}

TEST_CASE("an executor knows whether the actor that it runs has more messages") {
  std::vector<bool> seen;
  one_executor cfg{200us};
  {
    caf::actor_system system{cfg};
    auto asks = system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
      return {[&, self](int) {
        auto& pool = basal::actors::scheduler::of(system)->messages();
        caf::resumable* job = self;
        seen.push_back(pool.config().newest_ops->has_more(job));
      }};
    });
    system.spawn([asks](caf::event_based_actor* self) {
      for (int i = 0; i < 3; ++i)
        self->send(asks, i); // there is one executor, and this one has it
    });
  }
  CHECK(seen == std::vector<bool>{true, true, false});
}
