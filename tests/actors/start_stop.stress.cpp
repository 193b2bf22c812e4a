// Systems that stop while everything is in flight: handlers inside computations, messages between
// actors, timeouts, detached and blocking actors. Leaks are the address sanitizer's to find.
#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/run_pure.hpp>

#include <caf/actor_system.hpp>
#include <caf/after.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include "support/catch.hpp"

using namespace std::chrono_literals;

namespace {

using basal::posse::member;
using basal::posse::pure;
using caf::behavior;
using caf::event_based_actor;

using go_atom = caf::atom_constant<caf::atom("go")>;

std::atomic<int> alive{0};

struct census {
  census() {
    ++alive;
  }
  census(const census&) {
    ++alive;
  }
  ~census() {
    --alive;
  }
};

int count_leaves(member& m, int depth) {
  if (depth == 0)
    return 1;
  auto [a, b] = m.fork_merge([=](member& left) { return count_leaves(left, depth - 1); },
                             [=](member& right) { return count_leaves(right, depth - 1); });
  return a + b;
}
constexpr pure<count_leaves> pure_count_leaves{"count_leaves"};

// 2^40 leaves: only cancellation ends it.
constexpr int endless_depth = 40;

// Handles travel in the messages alone: actors that held each other would leak by CAF's rules.
behavior ping_pong(event_based_actor* self) {
  return {
    [self, c = census{}](go_atom tag, const caf::actor& other) { self->send(other, tag, self); }};
}

behavior computing(event_based_actor* self, bool offload) {
  return {[=, c = census{}](go_atom) {
    return offload ? pure_count_leaves.offload(self, endless_depth)
                   : pure_count_leaves(self, endless_depth);
  }};
}

behavior waiting(event_based_actor* self) {
  self->delayed_send(self, 10h, go_atom::value);
  return {[c = census{}](go_atom) {}, caf::after(60min) >> [] {}};
}

behavior requesting(event_based_actor* self, const caf::actor& whom) {
  return {[=, c = census{}](go_atom tag) {
    for (int i = 0; i < 20; ++i)
      self->request(whom, 600min, tag).then([](int) {});
  }};
}

// CAF destroys a stateful actor's state when it exits, not with its behaviour.
struct counted_state {
  census c;
};

behavior stateful(caf::stateful_actor<counted_state>* self) {
  return {[self](go_atom tag) { self->send(self, tag); }};
}

void start_work(caf::actor_system& system, int cycle) {
  for (int i = 0; i < 3; ++i)
    caf::anon_send(system.spawn(stateful), go_atom::value);
  auto first = system.spawn(ping_pong);
  caf::anon_send(first, go_atom::value, system.spawn(ping_pong));
  auto here = system.spawn(computing, false);
  caf::anon_send(here, go_atom::value);
  auto there = system.spawn(computing, true);
  caf::anon_send(there, go_atom::value);
  for (int i = 0; i < 3; ++i)
    system.spawn(waiting);
  caf::anon_send(system.spawn(requesting, there), go_atom::value);
  if (cycle % 4 == 0)
    system.spawn<caf::detached>([](event_based_actor* self) -> behavior {
      self->delayed_send(self, 1ms, go_atom::value);
      return {[self, c = census{}](go_atom) { self->quit(); }};
    });
}

} // namespace

TEST_CASE("a system stops with work in flight, again and again") {
  for (int cycle = 0; cycle < 200; ++cycle) {
    basal::actor_system_config cfg;
    cfg.set("basal.message-executors", static_cast<std::size_t>(1 + cycle % 3));
    cfg.set("basal.compute-executors", static_cast<std::size_t>(1 + cycle % 2));
    caf::actor_system system{cfg};
    system.await_actors_before_shutdown(false);
    start_work(system, cycle);
    if (cycle % 5 == 0)
      std::this_thread::sleep_for(2ms); // deeper into the work
  }
  CHECK(alive == 0);
}

TEST_CASE("a system without work starts and stops") {
  for (int cycle = 0; cycle < 200; ++cycle) {
    basal::actor_system_config cfg;
    caf::actor_system system{cfg};
  }
}

TEST_CASE("a system that waits for its actors waits for their computations") {
  for (int cycle = 0; cycle < 50; ++cycle) {
    std::atomic<int> sum{0};
    {
      basal::actor_system_config cfg;
      cfg.set("basal.message-executors", std::size_t{2});
      caf::actor_system system{cfg};
      for (int i = 0; i < 4; ++i)
        system.spawn([&sum, i](event_based_actor* self) {
          sum += i % 2 == 0 ? pure_count_leaves(self, 10) : pure_count_leaves.offload(self, 10);
        });
    }
    CHECK(sum == 4 * 1024);
  }
}
