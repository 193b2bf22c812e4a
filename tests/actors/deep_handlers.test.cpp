// Handlers that need as much stack as a thread of their own would give them: each of these programs
// works where every worker has the 8 MiB of an ordinary thread.

#include <basal/actors/actors.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <memory>
#include <regex>
#include <string>

namespace {

enum class program : int { regex, list, frame, count };

struct node {
  std::unique_ptr<node> next;
  volatile char payload[64] = {};
};

[[gnu::noinline]] int with_large_frame() {
  volatile char frame[300 * 1024];
  for (std::size_t i = 0; i < sizeof frame; i += 1024)
    frame[i] = 1;
  return frame[1024];
}

int run(int which) {
  switch (static_cast<program>(which)) {
  case program::regex: // recurses for each character
    return std::regex_match(std::string(2000, 'a'), std::regex{"(a|b)*"}) ? 1 : 0;
  case program::list: { // destroyed by recursion
    std::unique_ptr<node> list;
    for (int i = 0; i < 10'000; ++i) {
      auto one = std::make_unique<node>();
      one->next = std::move(list);
      list = std::move(one);
    }
    return 1;
  }
  case program::frame:
    return with_large_frame();
  case program::count:
    break;
  }
  return 0;
}

long run_at_a_branch(basal::posse::member& m, int which) {
  auto [a, b] = m.fork_merge([=](auto&) { return run(which); }, [=](auto&) { return run(which); });
  return a + b;
}
inline constexpr basal::posse::pure<run_at_a_branch> pure_run{"run_at_a_branch"};

caf::behavior worker(caf::event_based_actor* self) {
  return {
    [](int which) { return run(which); },
    [self](int which, bool offloaded) {
      return offloaded ? pure_run.offload(self, which) : pure_run(self, which);
    },
  };
}

// Keeps the next one alive; the last reference to the first ends all of them, within each other.
caf::behavior link_of_chain(caf::event_based_actor*, const caf::actor& next) {
  return {[next](caf::get_atom) { return next != nullptr; }};
}

} // namespace

TEST_CASE("handlers and pure functions may use as much stack as on a thread of their own") {
  basal::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  auto someone = system.spawn(worker);
  auto answer = [&](auto... what) {
    long result = -1;
    self->request(someone, caf::infinite, what...)
      .receive([&](int r) { result = r; }, [&](const caf::error& e) { FAIL(system.render(e)); });
    return result;
  };
  auto long_answer = [&](int which, bool offloaded) {
    long result = -1;
    self->request(someone, caf::infinite, which, offloaded)
      .receive([&](long r) { result = r; }, [&](const caf::error& e) { FAIL(system.render(e)); });
    return result;
  };
  for (int which = 0; which < static_cast<int>(program::count); ++which) {
    CAPTURE(which);
    CHECK(answer(which) == 1);
    CHECK(long_answer(which, false) == 2);
    CHECK(long_answer(which, true) == 2);
  }
}

TEST_CASE("the last reference to a long chain of actors may end in a handler") {
  basal::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  auto first = system.spawn<caf::lazy_init>(link_of_chain, caf::actor{});
  for (int i = 0; i < 3000; ++i)
    first = system.spawn<caf::lazy_init>(link_of_chain, first);
  auto holder = system.spawn([](caf::event_based_actor*) {
    return caf::behavior{[](caf::actor& chain) { chain = nullptr; }};
  });
  self->send(holder, std::move(first));
  self->send_exit(holder, caf::exit_reason::user_shutdown);
  self->wait_for(holder);
}
