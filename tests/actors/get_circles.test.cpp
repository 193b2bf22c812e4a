// Handlers that wait for each other in a circle.

#include "actors/adaptive_fixture.hpp"

#include <basal/actors/get.hpp>

#include <caf/response_promise.hpp>
#include <caf/sec.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <atomic>
#include <string>
#include <vector>

using namespace adaptive_tests;
using namespace std::chrono_literals;
using basal::actors::get;
using caf::behavior;
using caf::event_based_actor;

TEST_CASE_METHOD(fixture, "an actor that asks itself is told so") {
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int) {
      const auto answer = get<int>(me, caf::actor{me}, caf::infinite, 1);
      CHECK(answer.error() == basal::actors::make_error(basal::actors::errc::would_deadlock, ""));
      CHECK(system.render(answer.error()).find("would_deadlock") != std::string::npos);
      return 1;
    }};
  });
  CHECK(ask<int>(worker, 1) == 1);
}

namespace {

struct ring_state {
  const char* name = "ring";
  caf::actor next;
};

/// Asks the next one of its ring; `int` is how many are to be asked.
behavior ring_member(caf::stateful_actor<ring_state>* me, const char* name) {
  me->state.name = name;
  return {
    [=](const caf::actor& next) { me->state.next = next; },
    [=](int left) -> caf::result<int> {
      if (left == 0)
        return 0;
      auto rest = get<int>(me, me->state.next, caf::infinite, left - 1);
      if (!rest)
        return rest.error();
      return *rest + 1;
    },
  };
}

bool is_circle(const caf::error& e) {
  return e.category() == basal::actors::errc_category
         && e.code() == static_cast<std::uint8_t>(basal::actors::errc::would_deadlock);
}

} // namespace

TEST_CASE_METHOD(fixture, "circles of two and of three actors are named") {
  for (std::size_t size : {2u, 3u}) {
    std::vector<caf::actor> ring;
    for (const char* name : {"ann", "bob", "cid"})
      if (ring.size() < size)
        ring.push_back(system.spawn(ring_member, name));
    for (std::size_t i = 0; i < size; ++i)
      self->send(ring[i], ring[(i + 1) % size]);
    CHECK(ask<int>(ring[0], static_cast<int>(size) - 1)
          == static_cast<int>(size) - 1); // once round
    const auto error = ask_error(ring[0], 1000);
    CHECK(is_circle(error));
    auto named = [&](std::size_t i) {
      return std::vector<std::string>{"ann", "bob", "cid"}[i] + " (" + std::to_string(ring[i].id())
             + ")";
    };
    std::string circle = named(size - 1);
    for (std::size_t i = 0; i < size; ++i)
      circle += " -> " + named(i);
    CHECK_THAT(system.render(error), ContainsSubstring(circle));
    CHECK(ask<int>(ring[0], 1) == 1); // all go on
    for (const auto& x : ring)
      caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
  }
}

TEST_CASE_METHOD(fixture, "an actor that has handled the request may wait for who sent it") {
  // `late` has answered, or will by way of another, and waits for the asker in the same handler or
  // in a later one: no circle.
  for (const bool in_same_handler : {true, false}) {
    std::atomic<int> got{0};
    caf::response_promise open;
    auto third = system.spawn(
      [&](event_based_actor*) -> behavior { return {[&](int) { open.deliver(7); }}; });
    auto late = system.spawn([&](event_based_actor* me) -> behavior {
      auto ask_back = [&, me](const caf::actor& back) {
        me->send(third, 1); // on the only executor: not before this handler waits
        const auto x = get<int>(me, back, patience, 3);
        got = x ? *x : -1;
      };
      return {
        [&, me, ask_back](const caf::actor& back) {
          open = me->make_response_promise();
          if (in_same_handler)
            ask_back(back);
          else
            me->send(caf::actor{me}, back, 0);
        },
        [=](const caf::actor& back, int) { ask_back(back); },
      };
    });
    auto early = system.spawn([&](event_based_actor* me) -> behavior {
      return {
        [&, me](char) { return *get<int>(me, late, patience, caf::actor{me}); },
        [](int x) { return 10 * x; },
      };
    });
    CHECK(ask<int>(early, 'x') == 7);
    while (got == 0)
      std::this_thread::yield();
    CHECK(got == 30);
  }
}

TEST_CASE("circles are found whoever closes them, on several executors") {
  fixture f{4, 1};
  for (int round = 0; round < 200; ++round) {
    std::vector<caf::actor> ring;
    for (const char* name : {"a", "b", "c", "d"})
      ring.push_back(f.system.spawn(ring_member, name));
    for (std::size_t i = 0; i < ring.size(); ++i)
      f.self->send(ring[i], ring[(i + 1) % ring.size()]);
    for (const auto& x : ring) // each waits for the next, all at once
      f.self->send(x, 1000);
    int circles = 0;
    for (std::size_t i = 0; i < ring.size(); ++i)
      f.self->receive([](int) { FAIL("nobody can answer"); },
                      [&](caf::error& e) { circles += is_circle(e); },
                      caf::after(patience) >> [] { FAIL("they wait for ever"); });
    CHECK(circles == 4);
    for (const auto& x : ring)
      caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
  }
}
