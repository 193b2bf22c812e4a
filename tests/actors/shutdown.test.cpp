#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/shutdown.hpp>

#include <caf/actor_system.hpp>
#include <caf/after.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using basal::actors::await_all_actors_done;

namespace {

struct sleeper_state {
  static inline const char* name = "sleeper";
};

caf::behavior sleeper(caf::stateful_actor<sleeper_state>*) {
  return {[](int) {}, caf::after(60min) >> [] {}};
}

} // namespace

TEST_CASE("a system whose actors end has no stragglers") {
  basal::actor_system_config cfg;
  caf::actor_system system{cfg};
  std::atomic<int> ended{0};
  for (int i = 0; i < 100; ++i)
    system.spawn([&ended] { ++ended; });
  CHECK_FALSE(await_all_actors_done(system, 60s));
  CHECK(ended == 100);
}

TEST_CASE("stragglers are counted, and named where they can be found") {
  basal::actor_system_config cfg;
  caf::actor_system system{cfg};
  auto waiting = system.spawn(sleeper);
  auto nameless = system.spawn([]() -> caf::behavior { return {[](int) {}}; });
  auto registered = system.spawn(
    [](caf::stateful_actor<sleeper_state>*) -> caf::behavior { return {[](int) {}}; });
  system.registry().put(caf::atom("late"), registered);
  auto detached = system.spawn<caf::detached>([]() -> caf::behavior { return {[](int) {}}; });
  // The timeout is set when the actor runs for the first time.
  while (await_all_actors_done(system, 1ms).value().names.size() < 2) {
  }
  auto who = await_all_actors_done(system, 5ms);
  REQUIRE(who);
  CHECK(who->running == 4);
  CHECK(who->detached == 1);
  CHECK(who->names.size() == 2);
  const auto text = to_string(*who);
  CHECK_THAT(text, ContainsSubstring("4 actors have not ended, 1 on threads of their own"));
  CHECK_THAT(text, ContainsSubstring("sleeper (id " + std::to_string(waiting.id()) + ")"));
  CHECK_THAT(text, ContainsSubstring("sleeper (id " + std::to_string(registered.id()) + ")"));
  SECTION("and the system can leave without those that have no thread") {
    caf::anon_send_exit(detached, caf::exit_reason::kill);
    system.await_actors_before_shutdown(false);
  }
  SECTION("and when they end, the wait does") {
    for (const auto& each : {waiting, nameless, registered, detached})
      caf::anon_send_exit(each, caf::exit_reason::kill);
    CHECK_FALSE(await_all_actors_done(system, 60s));
  }
  system.registry().erase(caf::atom("late"));
}

TEST_CASE("waiting with a deadline needs a system on basal") {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  CHECK_THROWS_WITH(await_all_actors_done(system, 1ms),
                    ContainsSubstring("basal::actor_system_config"));
}
