// dump() of an actor system, and on a signal.

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/dump.hpp>
#include <basal/actors/offload.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "support/catch.hpp"

namespace {

struct waiter_state {
  static inline const char* name = "waiter";
};

struct small_config : basal::actor_system_config {
  small_config() {
    set("basal.message-executors", 2);
    set("basal.compute-executors", 1);
  }
};

/// Its handler waits for a compute executor, which is blocked until `release` is true.
struct waiting_system {
  std::atomic<bool> release{false};
  std::atomic<bool> blocked{false};
  small_config config;
  caf::actor_system system{config};

  waiting_system() {
    system.spawn([this](caf::stateful_actor<waiter_state>* self) -> caf::behavior {
      self->send(self, 1);
      return {[this, self](int) {
        basal::actors::offload(self, [this] {
          blocked = true;
          blocked.notify_all();
          release.wait(false);
        });
      }};
    });
    blocked.wait(false);
  }

  ~waiting_system() {
    release = true;
    release.notify_all();
  }
};

[[maybe_unused]] bool is_whole(const std::string& text) {
  return text.find("waits for an event") != std::string::npos
         && text.find("waiter_state") != std::string::npos
         && text.find("basal.cpu0: runs ") != std::string::npos;
}

} // namespace

// ThreadSanitizer keeps the signals of executors that sleep.
#if !defined(__SANITIZE_THREAD__)
TEST_CASE("a dump names who waits, in an actor of which type, and what runs") {
  waiting_system x;
  std::string text;
  while (!is_whole(text = basal::actors::dump(x.system))) { // the handler is about to be suspended
  }
  CHECK_THAT(text, ContainsSubstring("1 fiber: "));
}
#endif

TEST_CASE("a signal writes a dump to standard error, and the program goes on") {
  waiting_system x;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const auto saved = dup(STDERR_FILENO);
  std::string text;
  {
    const basal::actors::dump_on_signal asked{x.system};
    CHECK_THROWS_AS(basal::actors::dump_on_signal{x.system}, std::logic_error);
    dup2(ends[1], STDERR_FILENO);
    raise(SIGQUIT);
    char part[4096];
    while (text.find("basal.cpu0") == std::string::npos) {
      const auto n = read(ends[0], part, sizeof part);
      REQUIRE(n > 0);
      text.append(part, static_cast<std::size_t>(n));
    }
  }
  dup2(saved, STDERR_FILENO);
  for (const int fd : {saved, ends[0], ends[1]})
    close(fd);
  CHECK_THAT(text, ContainsSubstring("basal.msg1: "));
  const basal::actors::dump_on_signal again{x.system};
}
