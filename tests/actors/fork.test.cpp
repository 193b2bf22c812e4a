// A child of fork() has the memory of its parent's actor system, and none of its threads.

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/shutdown.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>

#include "support/catch.hpp"
#include "support/in_child.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
using namespace std::chrono_literals;
using basal::test::in_child;

namespace {

constexpr unsigned hangs_s = 20; // ends a child that waits for nobody

struct actor_program {
  basal::actor_system_config cfg;
  caf::actor_system system{cfg};
};

caf::behavior living() {
  return {[](int) {}};
}

} // namespace

TEST_CASE("a child of fork() that destroys its parent's actor system ends with a sentence") {
  auto parent = std::make_unique<actor_program>();
  auto actor = parent->system.spawn(living);
  const auto [said, signal] = in_child([&] {
    alarm(hangs_s);
    parent.reset(); // as at a return from main
  });
  CHECK(signal == SIGABRT);
  CHECK_THAT(said, ContainsSubstring("a child of fork() destroys the actor system of its parent"));
  CHECK_THAT(said, ContainsSubstring("end the child by _exit() or exec()"));
  caf::anon_send_exit(actor, caf::exit_reason::kill); // the parent's goes on
  CHECK_FALSE(basal::actors::await_all_actors_done(parent->system, 60s));
}

TEST_CASE("so does one that calls exit() where the actor system is static") {
  const auto [said, signal] = in_child([] {
    static actor_program program; // in a process of its own, which must end it
    const auto actor = program.system.spawn(living);
    int status = 0;
    const auto child = fork();
    if (child == 0) {
      alarm(hangs_s);
      std::exit(0);
    }
    waitpid(child, &status, 0);
    std::fputs(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? "child aborted" : "", stderr);
  });
  CHECK(signal == 0);
  CHECK_THAT(said, ContainsSubstring("a child of fork() destroys the actor system of its parent"));
  CHECK_THAT(said, ContainsSubstring("child aborted"));
}

TEST_CASE("a child of fork() that sends to an actor gets an error that says why") {
  auto parent = std::make_unique<actor_program>();
  auto actor = parent->system.spawn(living);
  while (parent->system.registry().running() != 1)
    std::this_thread::yield();
  const auto [said, signal] = in_child([&] {
    alarm(hangs_s);
    try {
      parent->system.spawn(living);
    } catch (const std::logic_error& e) {
      std::fputs(e.what(), stderr);
    }
  });
  CHECK(signal == 0);
  CHECK_THAT(said, ContainsSubstring("a child of fork() has no executors of its parent's pool"));
  caf::anon_send_exit(actor, caf::exit_reason::kill);
}
#else
TEST_CASE("a child of fork() does not go on under these sanitizers") {
  SUCCEED("nothing to test");
}
#endif
