#include "actors/adaptive_fixture.hpp"

#include <basal/actors/get.hpp>
#include <basal/actors/offload.hpp>

#include <caf/blocking_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/response_promise.hpp>
#include <caf/sec.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace adaptive_tests;
using namespace std::chrono_literals;
using basal::actors::get;
using caf::behavior;
using caf::event_based_actor;

namespace {

behavior doubler() {
  return {[](int x) { return 2 * x; }};
}

/// Answers never.
behavior mute(event_based_actor* me) {
  return {[=](int) { me->make_response_promise(); }};
}

/// Answers no request before it was told to, by a message that may come first.
struct keeper_state {
  std::vector<caf::response_promise> open;
  int told = 0;
  static inline const char* name = "keeper";

  void answer() {
    for (; told > 0 && !open.empty(); --told) {
      open.back().deliver(1);
      open.pop_back();
    }
  }
};

behavior keeper(caf::stateful_actor<keeper_state>* me) {
  return {
    [=](int) {
      me->state.open.push_back(me->make_response_promise());
      me->state.answer();
    },
    [=](const std::string&) {
      ++me->state.told;
      me->state.answer();
    },
  };
}

/// Asks whom it is told to, and answers with what it got, or with the error.
behavior asker(event_based_actor* me) {
  return {[=](const caf::actor& other, int x) -> caf::result<int> {
    auto answer = get<int>(me, other, patience, x);
    if (!answer)
      return answer.error();
    return *answer;
  }};
}

} // namespace

TEST_CASE_METHOD(fixture, "a handler gets an answer as a value and goes on where it was") {
  auto other = system.spawn(doubler);
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int x) {
      auto* before = basal::executors::executor::current();
      const auto sender = me->current_sender();
      const auto first = get<int>(me, other, patience, x);
      const auto second = get<int>(me, other, caf::infinite, *first);
      const bool same
        = basal::executors::executor::current() == before && me->current_sender() == sender;
      return same ? *second : -1;
    }};
  });
  CHECK(ask<int>(worker, 5) == 20);
}

TEST_CASE_METHOD(fixture, "answers of no value, of several, and of a type that is not movable away "
                          "from its owner") {
  const auto kept = caf::make_message(std::string(100, 'x'));
  auto other = system.spawn([&](event_based_actor*) -> behavior {
    return {
      [](char) {},
      [](double x) { return std::make_tuple(static_cast<int>(x), std::string{"whole"}); },
      [&](float) { return kept; },
    };
  });
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int) {
      const auto nothing = get<>(me, other, patience, 'x');
      const auto nothing_else = get<void>(me, other, patience, 'x');
      const auto two = get<int, std::string>(me, other, patience, 2.5);
      const auto text = get<std::string>(me, other, patience, 1.0f);
      return nothing && nothing_else && two == std::make_tuple(2, std::string{"whole"})
                 && text == std::string(100, 'x')
               ? 1
               : 0;
    }};
  });
  CHECK(ask<int>(worker, 1) == 1);
  CHECK(kept.get_as<std::string>(0) == std::string(100, 'x')); // it was shared
}

TEST_CASE_METHOD(fixture, "the receiver sees who asks") {
  auto other = system.spawn([](event_based_actor* me) -> behavior {
    return {[me](int) { return caf::actor_cast<caf::actor>(me->current_sender()); }};
  });
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int) { return *get<caf::actor>(me, other, patience, 1) == me ? 1 : 0; }};
  });
  CHECK(ask<int>(worker, 1) == 1);
}

TEST_CASE_METHOD(fixture, "the actor is busy until its handler is done, and loses no message") {
  auto other = system.spawn(keeper);
  std::vector<int> order;
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int x) {
      if (x == 0) {
        for (int i = 1; i <= 50; ++i) // each of them arrives while it waits
          caf::anon_send(caf::actor{me}, i);
        caf::anon_send(other, std::string{"answer"});
        order.push_back(-*get<int>(me, other, patience, 1));
      }
      order.push_back(x);
      return x;
    }};
  });
  CHECK(ask<int>(worker, 0) == 0);
  CHECK(ask<int>(worker, 51) == 51);
  REQUIRE(order.size() == 53);
  CHECK(order[0] == -1);
  for (int i = 0; i <= 51; ++i)
    CHECK(order[static_cast<std::size_t>(i) + 1] == i);
}

TEST_CASE_METHOD(fixture, "others are served while a handler waits") {
  auto other = system.spawn(keeper);
  auto worker = system.spawn(asker);
  auto pending = self->request(worker, patience, other, 1);
  auto echo = system.spawn(doubler); // on the only message executor
  CHECK(ask<int>(echo, 1) == 2);
  self->send(other, std::string{"answer"});
  pending.receive([](int x) { CHECK(x == 1); }, [&](caf::error& e) { FAIL(system.render(e)); });
}

TEST_CASE_METHOD(fixture,
                 "errors come as errors: the other's own, of another type, of no actor, of "
                 "one that has ended") {
  auto angry = system.spawn([](event_based_actor* me) -> behavior {
    me->set_default_handler(caf::drop);
    return {
      [](int x) -> caf::result<int> {
        if (x == 0)
          return caf::make_error(caf::sec::bad_function_call);
        return x;
      },
      [](char) { return std::string{"text"}; },
    };
  });
  auto gone = system.spawn([](event_based_actor*) {});
  self->wait_for(gone);
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int) {
      CHECK(get<int>(me, angry, patience, 0).error() == caf::sec::bad_function_call);
      CHECK(get<int>(me, angry, patience, 'x').error() == caf::sec::unexpected_response);
      CHECK(get<int>(me, angry, patience, 1.0).error() == caf::sec::unexpected_message);
      CHECK(get<int>(me, caf::actor{}, patience, 1).error() == caf::sec::invalid_argument);
      CHECK(get<int>(me, gone, patience, 1).error() == caf::sec::request_receiver_down);
      CHECK(get<int>(me, angry, patience, 3) == 3);
      return 1;
    }};
  });
  CHECK(ask<int>(worker, 1) == 1);
}

TEST_CASE_METHOD(fixture, "a wait ends with its time-out, and the late answer is dropped") {
  auto other = system.spawn(keeper);
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int x) {
      const auto& clock = basal::actors::scheduler::of(system)->clock();
      const auto timers = clock.pending();
      const auto late = get<int>(me, other, 1ms, x);
      CHECK(late.error() == caf::sec::request_timeout);
      me->send(other, std::string{"answer"});
      const auto quick = get<int>(me, system.spawn(doubler), patience, x);
      CHECK(clock.pending() == timers);
      return *quick;
    }};
  });
  CHECK(get<int>(self, worker, caf::infinite, 5) == 10); // no timer of its own
  CHECK(get<int>(self, worker, caf::infinite, 6) == 12);
}

TEST_CASE_METHOD(fixture, "a wait may be as long as any duration says") {
  auto other = system.spawn([](event_based_actor*) -> behavior {
    return {[](int x) {
      std::this_thread::sleep_for(5ms);
      return 2 * x;
    }};
  });
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[=](int x) {
      CHECK(get<int>(me, other, std::chrono::nanoseconds::max(), x) == 2 * x);
      CHECK(get<int>(me, other, std::chrono::seconds::max(), x) == 2 * x);
      CHECK(get<int>(me, other, std::chrono::hours::max(), x) == 2 * x);
      CHECK(get<int>(me, other, std::chrono::duration<double>{3600.5}, x) == 2 * x);
      const std::chrono::duration<long, std::ratio<1, 32768>> years{5L * 365 * 86400 * 32768};
      CHECK(get<int>(me, other, years, x) == 2 * x);
      for (const double none : {std::nan(""), -1.0, 0.0})
        CHECK(get<int>(me, other, std::chrono::duration<double>{none}, x).error()
              == caf::sec::request_timeout);
      return x;
    }};
  });
  CHECK(get<int>(self, worker, 1h, 5) == 5);
}

TEST_CASE_METHOD(fixture, "an exit message ends the wait and then the actor") {
  for (const auto reason : {caf::exit_reason::kill, caf::exit_reason::user_shutdown}) {
    std::atomic<bool> ended_so{false};
    std::atomic<bool> waits{false};
    auto other = system.spawn(mute);
    auto worker = system.spawn([&](event_based_actor* me) -> behavior {
      return {[&, me](int) {
        waits = true;
        const auto answer = get<int>(me, other, caf::infinite, 1);
        ended_so = !answer && answer.error() == reason;
        // To wait again would keep it alive.
        CHECK(get<int>(me, other, caf::infinite, 1).error() == reason);
        return 1;
      }};
    });
    self->monitor(worker);
    self->send(worker, 1);
    while (!waits)
      std::this_thread::yield();
    caf::anon_send_exit(worker, reason);
    self->receive([&](const caf::down_msg& x) { CHECK(x.reason == reason); },
                  caf::after(patience) >> [] { FAIL("it did not end"); });
    CHECK(ended_so);
  }
}

TEST_CASE_METHOD(fixture,
                 "an actor with its own exit handler goes on waiting, except when killed") {
  std::atomic<int> exits{0};
  auto other = system.spawn(keeper);
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    me->set_exit_handler([&](caf::exit_msg&) { ++exits; });
    return {[&, me](int) -> caf::result<int> {
      caf::anon_send_exit(caf::actor{me}, caf::exit_reason::user_shutdown);
      caf::anon_send(other, std::string{"answer"});
      return get<int>(me, other, patience, 1);
    }};
  });
  CHECK(ask<int>(worker, 1) == 1);
  CHECK(ask<int>(worker, 1) == 1);
  CHECK(exits > 0);
  auto silent = system.spawn(mute);
  auto killed = system.spawn([&](event_based_actor* me) -> behavior {
    me->set_exit_handler([](caf::exit_msg&) {});
    return {[&, me](int) {
      caf::anon_send_exit(caf::actor{me}, caf::exit_reason::kill);
      CHECK(get<int>(me, silent, caf::infinite, 1).error() == caf::exit_reason::kill);
    }};
  });
  self->send(killed, 1);
  self->wait_for(killed);
}

TEST_CASE("very many handlers wait at once") {
  const char* text = std::getenv("BASAL_STORM_ACTORS");
  const int count = text != nullptr ? std::atoi(text) : 100'000;
  fixture f{2, 1};
  std::atomic<int> waiting{0};
  auto other = f.system.spawn([&](caf::stateful_actor<keeper_state>* me) -> behavior {
    return {
      [&, me](int) {
        ++waiting;
        me->state.open.push_back(me->make_response_promise());
        return me->state.open.back();
      },
      [=](const std::string&) {
        for (auto& x : me->state.open)
          x.deliver(1);
      },
    };
  });
  for (int i = 0; i < count; ++i)
    f.self->send(f.system.spawn(asker), other, 1);
  while (waiting < count)
    std::this_thread::sleep_for(1ms);
  f.self->send(other, std::string{"answer"});
  int sum = 0;
  int i = 0;
  f.self->receive_for(i, count)([&](int x) { sum += x; },
                                caf::after(patience) >> [] { FAIL("answers are missing"); });
  CHECK(sum == count);
}

TEST_CASE("a system that does not wait for its actors ends their waits") {
  static std::atomic<int> ended{0};
  ended = 0;
  {
    fixture f{2, 1};
    std::atomic<int> waiting{0};
    auto other = f.system.spawn([&](event_based_actor* me) -> behavior {
      return {[&, me](int) {
        ++waiting;
        return me->make_response_promise();
      }};
    });
    for (int i = 0; i < 100; ++i)
      f.self->send(f.system.spawn([other](event_based_actor* me) -> behavior {
        return {[=](int) {
          const auto answer = get<int>(me, other, caf::infinite, 1);
          if (answer.error() == caf::exit_reason::user_shutdown)
            ++ended;
          if (get<int>(me, other, caf::infinite, 1).error() == caf::exit_reason::user_shutdown)
            ++ended;
        }};
      }),
                   1);
    while (waiting < 100)
      std::this_thread::yield();
    f.system.await_actors_before_shutdown(false);
  }
  CHECK(ended == 200);
}

TEST_CASE_METHOD(fixture, "typed actors, offloaded functions, and actors with threads of their own "
                          "get answers, too") {
  using typed = caf::typed_actor<caf::replies_to<int>::with<int>>;
  auto other = system.spawn(
    [](typed::pointer) -> typed::behavior_type { return {[](int x) { return x + 1; }}; });
  auto front = system.spawn([&](typed::pointer me) -> typed::behavior_type {
    return {[&, me](int x) { return *get<int>(me, other, patience, x); }};
  });
  CHECK(ask<int>(front, 1) == 2);
  CHECK(get<int>(self, front, patience, 2) == 3);
  auto hopping = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int x) {
      return basal::actors::offload(me, [&] { return *get<int>(me, other, patience, x); });
    }};
  });
  CHECK(ask<int>(hopping, 3) == 4);
  auto detached = system.spawn<caf::detached>([&](event_based_actor* me) -> behavior {
    return {[&, me](int x) { return *get<int>(me, other, patience, x); }};
  });
  CHECK(ask<int>(detached, 4) == 5);
  auto blocking = system.spawn([&](caf::blocking_actor* me) {
    me->receive([&](int x) { return *get<int>(me, other, patience, x); });
  });
  CHECK(ask<int>(blocking, 5) == 6);
}

TEST_CASE("on another scheduler the error says what to change") {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  std::string said;
  auto other = system.spawn(doubler);
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](int x) {
      try {
        return *get<int>(me, other, patience, x);
      } catch (const std::logic_error& e) {
        said = e.what();
      }
      return 0;
    }};
  });
  self->request(worker, patience, 1).receive([](int x) { CHECK(x == 0); }, [](caf::error&) {});
  CHECK_THAT(said, ContainsSubstring("basal::actor_system_config"));
}
