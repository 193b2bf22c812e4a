#include <basal/actors/detail/clock.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace std::chrono_literals;

TEST_CASE("many threads set and cancel timeouts while they come due") {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  basal::actors::clock clock;
  clock.start(system, false);
  constexpr int threads = 4;
  constexpr int rounds = 5'000;
  std::vector<caf::actor> actors;
  for (int i = 0; i < threads; ++i)
    actors.push_back(system.spawn([]() -> caf::behavior { return {[](int) {}}; }));
  auto work = [&](int number) {
    std::mt19937 random(static_cast<unsigned>(number));
    auto* target = caf::actor_cast<caf::abstract_actor*>(actors[static_cast<std::size_t>(number)]);
    auto shared = caf::actor_cast<caf::strong_actor_ptr>(self);
    for (int i = 0; i < rounds; ++i) {
      const auto due = clock.now() + std::chrono::microseconds{random() % 2000};
      const auto id = static_cast<std::uint64_t>(i + 1);
      clock.set_ordinary_timeout(due, target, caf::atom("type"), id);
      clock.set_request_timeout(due, target, caf::make_message_id(id).response_id());
      if (i % 3 == 0)
        clock.cancel_request_timeout(target, caf::make_message_id(id).response_id());
      if (i % 100 == 0)
        clock.cancel_timeouts(target);
      clock.schedule_message(due, shared,
                             caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, i));
    }
  };
  std::vector<std::thread> workers;
  for (int number = 0; number < threads; ++number)
    workers.emplace_back(work, number);
  for (auto& worker : workers)
    worker.join();
  // Messages are never cancelled: every one arrives.
  long long sum = 0;
  int count = 0;
  self->receive_for(count, threads * rounds)([&](int number) { sum += number; });
  CHECK(sum == static_cast<long long>(threads) * rounds * (rounds - 1) / 2);
  clock.stop();
  CHECK(clock.pending() == 0);
}

TEST_CASE("a clock stops while others set timeouts and while some come due") {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  const auto target = caf::actor_cast<caf::strong_actor_ptr>(self);
  for (int cycle = 0; cycle < 200; ++cycle) {
    basal::actors::clock clock;
    clock.start(system, false);
    std::atomic<bool> stop{false};
    std::thread setter{[&] {
      for (int i = 0; !stop.load(std::memory_order_relaxed); ++i)
        clock.schedule_message(
          clock.now() + std::chrono::microseconds{i % 3 == 0 ? 0 : 3'600'000'000}, target,
          caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, i));
    }};
    if (cycle % 2 == 0)
      std::this_thread::yield();
    clock.stop();
    CHECK(clock.pending() == 0);
    stop.store(true, std::memory_order_relaxed);
    setter.join();
    CHECK(clock.pending() == 0);
  }
}
