#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/actors/shutdown.hpp>

#include <caf/actor_system.hpp>
#include <caf/after.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "support/catch.hpp"
#include "support/in_child.hpp"

using namespace std::chrono_literals;
using basal::actors::await_all_actors_done;
using basal::test::in_child;

namespace {

struct sleeper_state {
  static inline const char* name = "sleeper";
};

caf::behavior sleeper(caf::stateful_actor<sleeper_state>*) {
  return {[](int) {}, caf::after(60min) >> [] {}};
}

/// Ends a system with this deadline while a handler runs until `done(since when)`.
template <class Done>
void stop_with_deadline(caf::timespan deadline, Done done) {
  std::atomic<bool> begun{false};
  basal::actor_system_config cfg;
  cfg.set("basal.message-executors", std::size_t{2});
  cfg.set("basal.stop-deadline", deadline);
  caf::actor_system system{cfg};
  system.await_actors_before_shutdown(false);
  system.spawn([&] {
    begun = true;
    const auto start = std::chrono::steady_clock::now();
    while (!done(std::chrono::steady_clock::now() - start))
      std::this_thread::yield();
  });
  while (!begun)
    std::this_thread::yield();
}

} // namespace

TEST_CASE("a system whose actors end has no stragglers") {
  basal::actor_system_config cfg;
  std::atomic<int> ended{0};
  std::atomic<bool> may_end{false};
  caf::actor_system system{cfg};
  for (int i = 0; i < 100; ++i)
    system.spawn([&ended] { ++ended; });
  CHECK_FALSE(await_all_actors_done(system, 60s));
  CHECK(ended == 100);
  system.spawn([&may_end] { may_end.wait(false); });
  const std::jthread ender{[&] {
    std::this_thread::sleep_for(5ms);
    may_end = true;
    may_end.notify_all();
  }};
  CHECK_FALSE(await_all_actors_done(system, std::chrono::nanoseconds::max())); // without an end
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

TEST_CASE("basal.stop-deadline ends a program whose handler does not return, and says who it is") {
  const auto [said, signal]
    = in_child([] { stop_with_deadline(100ms, [](auto) { return false; }); });
  CHECK(signal == SIGABRT);
  CHECK_THAT(said,
             ContainsSubstring("[basal.actors] [warning] the actor system stops, but after "));
  CHECK_THAT(said, ContainsSubstring("basal.msg"));
  CHECK_THAT(said, ContainsSubstring("runs an actor"));
  CHECK_THAT(said, ContainsSubstring("basal.stop-deadline has passed; the program ends"));
}

namespace {

int never_returns(basal::posse::member&, std::atomic<bool>* begun) {
  *begun = true;
  for (;;)
    std::this_thread::yield();
}

constexpr basal::posse::pure<never_returns> pure_never_returns{"never_returns"};

} // namespace

TEST_CASE("basal.stop-deadline ends a program in which a plain thread's call does not return") {
  const auto [said, signal] = in_child([] {
    std::atomic<bool> begun{false};
    std::thread caller;
    basal::actor_system_config cfg;
    cfg.set("basal.stop-deadline", caf::timespan{100ms});
    caf::actor_system system{cfg};
    caller = std::thread{[&] { pure_never_returns(basal::actors::runtime_of(system), &begun); }};
    while (!begun)
      std::this_thread::yield();
  });
  CHECK(signal == SIGABRT);
  CHECK_THAT(said, ContainsSubstring("basal.call0 runs never_returns"));
  CHECK_THAT(said, ContainsSubstring("basal.stop-deadline has passed; the program ends"));
}

TEST_CASE("a system whose handlers return before basal.stop-deadline ends without a word") {
  const auto [said, signal]
    = in_child([] { stop_with_deadline(60s, [](auto time) { return time > 100ms; }); });
  CHECK(signal == 0);
  CHECK(said.empty());
}

TEST_CASE("a kernel that refuses a thread, CAF's own too, ends the program with a sentence") {
  bool started = false;
  for (rlim_t threads = 1; threads <= 16 && !started; ++threads) {
    const auto [said, signal] = in_child([threads] {
      // The limit does not bind root. Nobody else's threads count against a user of our own.
      constexpr uid_t nobody_known = 47'110'815;
      if (geteuid() == 0 && setuid(nobody_known) != 0)
        _exit(1);
      const rlimit few{threads, threads};
      setrlimit(RLIMIT_NPROC, &few);
      basal::actor_system_config cfg;
      cfg.set("basal.message-executors", std::size_t{2});
      cfg.set("basal.compute-executors", std::size_t{2});
      caf::actor_system system{cfg};
    });
    CAPTURE(threads, said);
    started = signal == 0;
    if (!started) {
      CHECK(signal == SIGABRT);
      CHECK_THAT(said,
                 ContainsSubstring("[basal.actors] [critical] cannot start the actor system: "));
    }
  }
}

namespace {

int spawns(basal::posse::member&, caf::actor_system* system) {
  system->spawn([]() -> caf::behavior { return {[](int) {}}; });
  return 1;
}

constexpr basal::posse::pure<spawns> pure_spawns{"spawns"};

int sends_later(basal::posse::member&, caf::actor other) {
  caf::delayed_anon_send(other, 1ms, caf::ok_atom_v);
  return 1;
}

constexpr basal::posse::pure<sends_later> pure_sends_later{"sends_later"};

void send_later_in_pure_function() {
  basal::actor_system_config cfg;
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  auto caller = system.spawn([](caf::event_based_actor* actor) -> caf::behavior {
    return {[=](int) { return pure_sends_later(actor, caf::actor{actor}); }, [](caf::ok_atom) {}};
  });
  self->request(caller, caf::infinite, 0).receive([](int) {}, [](const caf::error&) {});
}

void spawn_in_pure_function(bool checked) {
  basal::actor_system_config cfg;
  cfg.set("basal.check-effects", checked);
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  auto caller = system.spawn([](caf::event_based_actor* actor) -> caf::behavior {
    return {[=](int) { return pure_spawns(actor, &actor->system()); }};
  });
  self->request(caller, caf::infinite, 0).receive([](int) {}, [](const caf::error&) {});
}

} // namespace

TEST_CASE(
  "a pure function that spawns an actor ends the program with its name, unless told not to") {
  const auto [said, signal] = in_child([] { spawn_in_pure_function(true); });
  CHECK(signal == SIGABRT);
  CHECK_THAT(said, ContainsSubstring("the pure function spawns sends a message"));
  const auto [later, aborted] = in_child([] { send_later_in_pure_function(); });
  CHECK(aborted == SIGABRT);
  CHECK_THAT(later, ContainsSubstring("the pure function sends_later sends a message for later"));
  const auto [silence, none] = in_child([] { spawn_in_pure_function(false); });
  CHECK(none == 0);
  CHECK(silence.empty());
}
